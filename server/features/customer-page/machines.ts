import { sql, type RawBuilder } from 'kysely';
import type { CustomerMachine, customerPage as calls } from '../../../contract/customer-page.ts';
import type { RouteAnswer, RouteInput } from '../../../contract/route.ts';
import { mayRead, type Caller } from '../../caller.ts';
import type { Db } from '../../db/client.ts';
import { contains, isOfOwner, lastSeenOf, recordHash, releaseRun } from '../../db/sql.ts';
import { isFailure, type Failure } from '../../failure.ts';
import { onlyRow } from '../../invariants.ts';
import { findCustomer } from '../customers/index.ts';

type Row = Omit<CustomerMachine, 'lastSeen' | 'offlineUntil'> & {
  lastSeen: Date | null;
  offlineUntil: Date | null;
};

/** The machines of a customer, one row for each license; those with a seat first, then the last seen. */
export async function listMachines(
  db: Db,
  by: Caller,
  customerId: string,
  { search, limit, offset }: RouteInput<typeof calls.machines>['query'],
): Promise<RouteAnswer<typeof calls.machines> | Failure> {
  const customer = await findCustomer(db, customerId, true);
  if (isFailure(customer)) return customer;
  const found = sql`${areOf(customerId)} and ${
    search ? contains(sql`a.machine_id || E'\n' || coalesce(a.hostname, '')`, search) : sql`true`
  }`;
  const [{ rows }, counted] = await Promise.all([
    sql<Row>`
      ${machinesWhere(found)}
      order by a.status = 'active' desc, "lastSeen" desc nulls last, a.activation_id
      limit ${limit} offset ${offset}`.execute(db),
    sql<{ total: number }>`
      select count(*) as total from activations a join licenses l using (license_id) where ${found}`.execute(
      db,
    ),
  ]);
  const machines = rows.map(toMachine);
  const data = mayRead(by, 'releases')
    ? machines
    : machines.map((machine) => ({ ...machine, releaseId: null }));
  return { data, meta: { total: onlyRow(counted).total, limit, offset } };
}

/** The ids of all of them, for an export. */
export async function idsOfMachines(db: Db, customerId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('activations as a')
    .innerJoin('licenses as l', 'l.license_id', 'a.license_id')
    .select('a.activation_id')
    .where(areOf(customerId))
    .orderBy('a.activation_id')
    .execute();
  return rows.map((row) => row.activation_id);
}

/** Those with these ids that are still the customer's, in no order. */
export async function readMachines(db: Db, customerId: string, ids: string[]): Promise<CustomerMachine[]> {
  const theirs = sql`a.activation_id = any(${ids}::uuid[]) and ${areOf(customerId)}`;
  const { rows } = await sql<Row>`${machinesWhere(theirs)}`.execute(db);
  return rows.map(toMachine);
}

/** Whether an activation `a` of a license `l` is the customer's: of another owner, it would tell one hospital of the other. */
export const areOf = (customerId: string) => sql<boolean>`l.customer_id = ${customerId} and ${isOfOwner}`;

const versionRun = releaseRun(
  sql`coalesce(m.last_version, a.app_version)`,
  sql`coalesce(m.platform, a.platform)`,
  sql`coalesce(m.architecture, a.architecture)`,
);

/** A machine with a record of its own is known by that one (docs/decisions/046-machine-credentials.md). */
const machinesWhere = (found: RawBuilder<unknown>) => sql`
  select a.activation_id as "activationId", a.machine_id as "machineId", a.status, a.hostname, a.platform,
         a.architecture, a.os_version as "osVersion", a.offline_until as "offlineUntil",
         l.license_id as "licenseId", l.license_key as "licenseKey", m.display_id as "displayId",
         coalesce(m.last_version, a.app_version) as version, ${versionRun} as "releaseId",
         ${lastSeenOf(sql`a.last_checked_at`)} as "lastSeen"
    from activations a join licenses l using (license_id)
    left join machine_credentials c using (activation_id)
    left join machines m on m.machine_hash = ${recordHash('c', 'a')}
   where ${found}`;

const toMachine = (row: Row): CustomerMachine => ({
  ...row,
  lastSeen: row.lastSeen?.toISOString() ?? null,
  offlineUntil: row.offlineUntil?.toISOString() ?? null,
});
