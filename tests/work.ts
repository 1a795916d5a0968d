import type { QueryResultRow } from 'pg';
import { customers } from '../contract/customers.ts';
import { validation } from '../contract/validation.ts';
import { withClient } from '../server/db/with-client.ts';
import { makeApiKey, makeLicense, unique, type MadeApiKey } from './factories.ts';
import { apiAt, type Api } from './harness.ts';
import type { startLoad } from './load.ts';
import { signInAdministrator } from './server-process.ts';

/** A typical load of staff and machines on one process. */
export type Work = {
  staff: Api;
  key: MadeApiKey;
  licenseKey: string;
  calls: Parameters<typeof startLoad>[0];
  /** Names of the customers that were acknowledged. */
  made: string[];
};

/**
 * Creates the records that the load needs; `first` is the load of another process on the same database, which shares
 * them.
 */
export async function prepareWork({ url }: { url: string }, first?: Work): Promise<Work> {
  const staff = await signInAdministrator({ url });
  const licenseKey = first?.licenseKey ?? (await makeLicense(staff, { maxActivations: 100_000 })).licenseKey;
  const key = first?.key ?? (await makeApiKey(staff, { scopes: ['validate'] }));
  const desktop = apiAt(url, key);
  const made: string[] = [];
  const at = first ? ' at the second' : '';
  const validate = (machineId: string) =>
    desktop.call(validation.validate, { body: { licenseKey, machineId } });
  const calls: Work['calls'] = {
    [`known machine${at}`]: () => validate('known'),
    [`new machine${at}`]: () => validate(unique('machine')),
    [`change${at}`]: async () => {
      const name = `${unique('Clinic')}${at}`;
      const answer = await staff.call(customers.create, { body: { name, country: 'DE' } });
      if (answer.status === 201) made.push(name);
      return answer;
    },
    [`list${at}`]: () => staff.call(customers.list, { query: { limit: '5' } }),
    [`readiness${at}`]: () => fetch(`${url}/readyz`),
  };
  return { staff, key, licenseKey, calls, made };
}

/** Queries the database directly. */
export const ask = <Row extends QueryResultRow = Record<string, unknown>>(
  url: string,
  sql: string,
): Promise<Row[]> => withClient(url, async (client) => (await client.query<Row>(sql)).rows);

/** Customers that were acknowledged but do not exist exactly once, and those without exactly one audit entry. */
export async function lostCustomers(databaseUrl: string, made: string[]): Promise<string[]> {
  const rows = await ask<{ name: string; told: number }>(
    databaseUrl,
    `select name, (select count(*)::int from audit_entries
                    where event_type = 'customer.created' and resource_id::text = customer_id::text) as told
       from customers`,
  );
  const times = new Map<string, number>();
  for (const { name } of rows) times.set(name, (times.get(name) ?? 0) + 1);
  return [
    ...made.filter((name) => times.get(name) !== 1),
    ...rows.filter(({ told }) => told !== 1).map(({ name, told }) => `${name}: ${told} entries`),
  ];
}
