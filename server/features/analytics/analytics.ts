import { sql, type RawBuilder } from 'kysely';
import { daysFrom, utcDay } from '../../../contract/durations.ts';
import type { CustomerUse, LicenseHealth, LicenseTrends } from '../../../contract/analytics.ts';
import type { ValidationCode } from '../../../contract/validation.ts';
import type { Context } from '../../context.ts';
import { createCache } from '../../db/cache.ts';
import type { Db } from '../../db/client.ts';
import { readOnly } from '../../db/read-only.ts';
import { anyOf, isOfOwner } from '../../db/sql.ts';
import { onlyRow } from '../../invariants.ts';

/** After the current one. */
const weeksAhead = 13;
/** How long results are cached: daily figures need not be fresher. */
const keptMs = 30_000;

type Use = Pick<CustomerUse, 'customers' | 'versions'>;
type Outlook = Omit<CustomerUse, keyof Use>;
export type Period = { startDate: string; endDate: string };

/** The three reports, each cached per period for half a minute. */
export function createAnalytics({ reports: db, signals }: Pick<Context, 'reports' | 'signals'>) {
  const kept = { max: 50, ttlMs: keptMs };
  const healths = createCache<LicenseHealth>(signals, 'licenses', kept);
  const trends = createCache<LicenseTrends>(signals, 'licenses', kept);
  const uses = createCache<Use>(signals, 'licenses', kept);
  const outlooks = createCache<Outlook>(signals, 'licenses', kept);
  const keyOf = ({ startDate, endDate }: Period) => `${startDate} ${endDate}`;
  return {
    health: (now: Date) => healths('now', () => licenseHealth(db, now)),
    trends: (period: Period) => trends(keyOf(period), () => licenseTrends(db, period)),
    customers: async (period: Period, now: Date): Promise<CustomerUse> => {
      const [outlook, use] = await Promise.all([
        outlooks('now', () => outlookAt(db, now)),
        uses(keyOf(period), () => useIn(db, period, now)),
      ]);
      return { ...outlook, ...use };
    },
  };
}

/** As in the tab of the list, also before the first day of the license. */
const isActive = (now: Date) => sql`l.status = 'active' and l.valid_until >= ${now}`;

/** Current counts, and the error rate (percent) and response time (ms) of the last seven UTC days. */
async function licenseHealth(db: Db, now: Date): Promise<LicenseHealth> {
  const since = utcDay(daysFrom(now, -6));
  const [{ rows: stock }, { rows: validations }] = await Promise.all([
    sql<{ activeLicenses: number; activeCustomers: number; totalActivations: string | number }>`
      select count(*) as "activeLicenses", count(distinct l.customer_id) as "activeCustomers",
             coalesce(sum(l.current_activations), 0) as "totalActivations"
        from licenses l join customers c using (customer_id)
       where ${isActive(now)} and c.deleted_at is null and c.status = 'active'`.execute(db),
    sql<{ all: number; failed: number; us: number }>`
      select coalesce(sum(validations), 0)::bigint as all,
             coalesce(sum(validations) filter (where code <> 'VALID'), 0)::bigint as failed,
             coalesce(sum(duration_us), 0)::bigint as us
        from validation_days where day between ${since}::date and ${utcDay(now)}::date`.execute(db),
  ]);
  const { all, failed, us } = onlyRow({ rows: validations });
  const counts = onlyRow({ rows: stock });
  return {
    ...counts,
    totalActivations: Number(counts.totalActivations),
    errorRate: all === 0 ? 0 : (100 * failed) / all,
    avgResponseTime: all === 0 ? 0 : us / all / 1000,
    lastUpdated: now.toISOString(),
  };
}

type Day = {
  period: string;
  machines: number;
  licenses: number;
  customers: number;
  all: number;
  valid: number;
  us: number;
};

/** One point for every UTC day of the period, including days without events. */
async function licenseTrends(db: Db, { startDate, endDate }: Period): Promise<LicenseTrends> {
  const [{ rows: days }, { rows: codes }] = await Promise.all([
    sql<Day>`
      select to_char(d, 'YYYY-MM-DD') as period, coalesce(a.machines, 0) as machines,
             coalesce(a.licenses, 0) as licenses, coalesce(a.customers, 0) as customers,
             coalesce(v.all, 0) as all, coalesce(v.valid, 0) as valid, coalesce(v.us, 0) as us
        from generate_series(${startDate}::date, ${endDate}::date, interval '1 day') d
        left join active_days a on a.day = d::date
        left join (select day, sum(validations)::bigint as all,
                          coalesce(sum(validations) filter (where code = 'VALID'), 0)::bigint as valid,
                          sum(duration_us)::bigint as us
                     from validation_days group by day) v on v.day = d::date
       order by d`.execute(db),
    sql<{ period: string; code: ValidationCode; count: number }>`
      select to_char(day, 'YYYY-MM-DD') as period, code, validations as count from validation_days
       where day between ${startDate}::date and ${endDate}::date order by day, code`.execute(db),
  ]);
  const series = (count: (day: Day) => number) =>
    days.map((day) => ({ period: day.period, count: count(day) }));
  const answered = days.filter((day) => day.all > 0);
  return {
    activations: series((day) => day.machines),
    customers: series((day) => day.customers),
    licenses: series((day) => day.licenses),
    // A day without validations has no rate: zero would look like an outage.
    successRate: answered.map((day) => ({ period: day.period, count: (100 * day.valid) / day.all })),
    responseTime: answered.map((day) => ({ period: day.period, count: day.us / day.all / 1000 })),
    codes,
  };
}

/**
 * A machine was in use if it was activated before the end of the period and last seen after its start. One whose seat
 * ended before a transfer is none of the new owner.
 */
const inUse = ({ startDate, endDate }: Period): RawBuilder<boolean> => sql`
  (${isOfOwner} and a.last_checked_at >= ${startDate}::date::timestamp at time zone 'UTC'
   and a.created_at < (${endDate}::date + 1)::timestamp at time zone 'UTC')`;

const ranked = 10;
const countedFirst = 20;

/**
 * The ten customers with the most machines in use. Counts those with the most machines, used or not; the others only if
 * they could have more in use than the tenth.
 */
async function topCustomers(db: Db, period: Period, now: Date): Promise<CustomerUse['customers']> {
  const { rows: largest } = await sql<{ id: string; machines: number }>`
    select customer_id as id, machines from customer_machines join customers using (customer_id)
     where deleted_at is null order by machines desc, customer_id limit ${countedFirst}`.execute(db);
  const top = await topAmong(db, period, now, sql`l.customer_id = ${anyOf(largest.map(({ id }) => id))}`);
  const tenth = top[ranked - 1]?.activeUsers ?? 0;
  const smallest = largest[countedFirst - 1];
  if (!smallest || smallest.machines <= tenth) return top;
  const couldBe = sql`select customer_id from customer_machines where machines >= ${tenth}`;
  return topAmong(db, period, now, sql`l.customer_id in (${couldBe})`);
}

/** Within a customer, one machine id is one machine (docs/decisions/046-machine-credentials.md). */
async function topAmong(db: Db, period: Period, now: Date, isCandidate: RawBuilder<boolean>) {
  // Counts licenses of the ten only: counting those of all candidates would double the query time.
  const { rows } = await sql<CustomerUse['customers'][number]>`
    with top as (
      select c.customer_id, c.name, machines
        from (select customer_id, count(*) as machines
                from (select distinct l.customer_id, a.machine_id from activations a join licenses l using (license_id)
                       where ${isCandidate} and ${inUse(period)}) machine
               group by customer_id) use
        join customers c using (customer_id)
       where c.deleted_at is null order by machines desc, c.name, c.customer_id limit ${ranked})
    select customer_id as "customerId", name as company, machines as "activeUsers",
           (select count(*) from licenses l where l.customer_id = top.customer_id and ${isActive(now)}) as "activeLicenses"
      from top order by machines desc, name, customer_id`.execute(db);
  return rows;
}

/** In one snapshot, since a customer may move in the order of all while they are counted. */
const useIn = (db: Db, period: Period, now: Date): Promise<Use> =>
  readOnly(db, async (tx) => {
    const customers = await topCustomers(tx, period, now);
    const ids = customers.map(({ customerId }) => customerId);
    return { customers, versions: await versionsOf(tx, period, ids) };
  });

/** The versions that machines in use ran, by what each told last. */
async function versionsOf(db: Db, period: Period, customerIds: string[]): Promise<CustomerUse['versions']> {
  if (customerIds.length === 0) return [];
  const { rows } = await sql<CustomerUse['versions'][number]>`
    select c.customer_id as "customerId", c.name as company, coalesce(told[1], 'Unknown') as "appVersion", count(*) as machines,
           count(*) filter (where proven) as "provenMachines"
      from (select l.customer_id, array_agg(a.app_version order by a.last_checked_at desc, a.activation_id)
                     filter (where a.app_version is not null) as told,
                   bool_or(m.activation_id is not null) as proven
              from licenses l join activations a using (license_id) left join machine_credentials m using (activation_id)
             where l.customer_id = any(${customerIds}::uuid[]) and ${inUse(period)}
             group by l.customer_id, a.machine_id) machine
      join customers c using (customer_id)
     group by 1, 3 order by 2, 1, 4 desc, 3`.execute(db);
  return rows;
}

/** What no period changes: the active customers, and the licenses that expire in the next weeks. */
async function outlookAt(db: Db, now: Date): Promise<Outlook> {
  const [expiring, summary] = await Promise.all([expiringByWeek(db, now), customersByType(db)]);
  return { summary, expiring };
}

/** Weeks start on Monday, in UTC, beginning with what is left of the current one. */
async function expiringByWeek(db: Db, now: Date): Promise<CustomerUse['expiring']> {
  const isExpiring = sql`${isActive(now)}
    and l.valid_until >= w at time zone 'UTC' and l.valid_until < (w + interval '7 days') at time zone 'UTC'`;
  // those of deleted customers are few: all are counted in an index, without their rows
  const { rows } = await sql<CustomerUse['expiring'][number]>`
    select to_char(w, 'YYYY-MM-DD') as "weekStart",
           (select count(*) from licenses l where ${isExpiring})
             - (select count(*) from licenses l join customers c using (customer_id)
                 where ${isExpiring} and c.deleted_at is not null) as count
      from generate_series(date_trunc('week', ${now}::timestamptz at time zone 'UTC'),
                           date_trunc('week', ${now}::timestamptz at time zone 'UTC') + ${weeksAhead} * interval '7 days',
                           interval '7 days') w
     order by w`.execute(db);
  return rows;
}

async function customersByType(db: Db): Promise<CustomerUse['summary']> {
  const rows = await db
    .selectFrom('customers')
    .select(['type', (eb) => eb.fn.countAll<number>().as('count')])
    .where('deleted_at', 'is', null)
    .where('status', '=', 'active')
    .groupBy('type')
    .execute();
  return {
    active: rows.reduce((sum, { count }) => sum + count, 0),
    byType: Object.fromEntries(rows.map(({ type, count }) => [type, count])),
  };
}
