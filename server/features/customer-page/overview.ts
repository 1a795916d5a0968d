import { sql } from 'kysely';
import { daysFrom } from '../../../contract/durations.ts';
import {
  refusedShown,
  type CustomerOverview,
  type RefusedValidations,
} from '../../../contract/customer-page.ts';
import { validationDays, type ValidationCode } from '../../../contract/validation.ts';
import { mayRead, type Caller } from '../../caller.ts';
import { isWithin, plausibleNow } from '../../checked-time.ts';
import type { Context } from '../../context.ts';
import type { Db } from '../../db/client.ts';
import { recordHash } from '../../db/sql.ts';
import { isFailure, type Failure } from '../../failure.ts';
import { onlyRow } from '../../invariants.ts';
import { findCustomer } from '../customers/index.ts';
import { policyOnPage } from '../policies/index.ts';
import type { ReleaseSet } from '../releases/index.ts';
import { offersToCustomer, policySentences } from '../updates/index.ts';
import { areOf } from './machines.ts';

export type PageParts = Pick<Context, 'db' | 'config'> & { releaseSet: ReleaseSet };

/**
 * Everything about a customer in one look, with that many groups of refused validations; a part that the caller may not
 * read is null.
 */
export async function overviewOf(
  parts: PageParts,
  by: Caller,
  customerId: string,
  mostRefused = refusedShown,
): Promise<CustomerOverview | Failure> {
  const { db } = parts;
  const [customer, policy] = await Promise.all([
    findCustomer(db, customerId, true),
    policyOnPage(db, customerId),
  ]);
  if (isFailure(customer)) return customer;
  if (isFailure(policy)) return policy;
  const readsLicenses = mayRead(by, 'licenses');
  const [seats, refused] = await Promise.all([
    readsLicenses ? seatsOf(db, customerId, by.now) : null,
    readsLicenses ? refusedOf(db, customerId, by.now, mostRefused) : null,
  ]);
  const { live, trashed } = await parts.releaseSet();
  const isLicensed =
    parts.config.updatesAfterRevocation ||
    (customer.status === 'active' && (await isAnyActive(db, customerId)));
  return {
    customer,
    tags: policy.own.tags,
    policy: [
      ...(customer.deletedAt === null ? [] : [tokensRefused]),
      ...(policy.applied ? policySentences(policy.applied) : []),
    ],
    seats: seats && {
      licenses: seats.licenses,
      used: seats.used,
      max: seats.max,
      nextEnd: seats.nextEnd?.toISOString() ?? null,
    },
    machines: seats && seats.machines,
    refused,
    releases: mayRead(by, 'releases')
      ? offersToCustomer(live, {
          policy: { isLicensed, ...policy.applied },
          now: by.now,
          deferredBy: await plausibleNow(db, by.now),
          trashed,
        })
      : null,
  };
}

/** Their feeds answer 401, whatever is offered to machines of the customer that an API key names. */
const tokensRefused =
  'While the customer is deleted, machines with a token get no updates; what is offered is offered to the others.';

type Seats = { licenses: number; used: number; max: number; nextEnd: Date | null; machines: number };

/** Licenses and seats in their term, and machines that hold a seat on any license. */
async function seatsOf(db: Db, customerId: string, now: Date): Promise<Seats> {
  const counted = await sql<Seats>`
    select count(*) as licenses, coalesce(sum(current_activations), 0) as used,
           coalesce(sum(max_activations), 0) as max, min(valid_until) as "nextEnd",
           (select count(distinct a.machine_id) from activations a join licenses l using (license_id)
             where l.customer_id = ${customerId} and a.status = 'active') as machines
      from licenses
     where customer_id = ${customerId} and status = 'active' and ${now} between valid_from and valid_until`.execute(
    db,
  );
  return onlyRow(counted);
}

async function isAnyActive(db: Db, customerId: string): Promise<boolean> {
  const row = await db
    .selectFrom('licenses')
    .select('license_id')
    .where('customer_id', '=', customerId)
    .where('status', '=', 'active')
    .executeTakeFirst();
  return row !== undefined;
}

type RefusedRow = Omit<RefusedValidations, 'first' | 'last' | 'code'> & {
  code: ValidationCode;
  first: Date;
  last: Date;
  total: number;
  groups: number;
};

/** Refused validations of the last days, grouped by reason, license and machine; the latest groups of them. */
async function refusedOf(
  db: Db,
  customerId: string,
  now: Date,
  most: number,
): Promise<NonNullable<CustomerOverview['refused']>> {
  const from = daysFrom(now, -validationDays);
  const { rows } = await sql<RefusedRow>`
    with refused as (
      select code, license_id, machine_id, count(*) as times, min(occurred_at) as first, max(occurred_at) as last
        from validations
       where customer_id = ${customerId} and ${isWithin('occurred_at', from, now)} and code <> 'VALID'
       group by code, license_id, machine_id)
    select r.code, r.machine_id as "machineId", r.times, r.first, r.last, r.license_id as "licenseId",
           l.license_key as "licenseKey", case when ${areOf(customerId)} then a.hostname end as hostname, m.display_id as "displayId", r.total, r.groups
      from (select *, sum(times) over ()::bigint as total, count(*) over () as groups
              from refused order by last desc, machine_id, code limit ${most}) r
      left join licenses l on l.license_id = r.license_id
      left join activations a on a.license_id = r.license_id and a.machine_id = r.machine_id
      left join machine_credentials c using (activation_id)
      left join machines m on m.machine_hash = ${recordHash('c', 'r')}
     order by r.last desc, r.machine_id, r.code`.execute(db);
  return {
    total: rows[0]?.total ?? 0,
    groups: rows[0]?.groups ?? 0,
    latest: rows.map((row) => {
      const { total: _, groups: __, ...group } = row;
      return { ...group, first: row.first.toISOString(), last: row.last.toISOString() };
    }),
  };
}
