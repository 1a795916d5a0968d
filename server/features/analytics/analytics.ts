import { sql, type RawBuilder } from 'kysely';
import { dayMs } from '../../../contract/durations.ts';
import type { CustomerUse, LicenseHealth, LicenseTrends } from '../../../contract/analytics.ts';
import type { ValidationCode } from '../../../contract/validation.ts';
import type { Context } from '../../context.ts';
import { createCache } from '../../db/cache.ts';
import type { Db } from '../../db/client.ts';
import { onlyRow } from '../../invariants.ts';

const weeksAhead = 13;
/** How long results are cached: daily figures need not be fresher, and the slowest query reads every machine. */
const keptMs = 30_000;

export type Period = { startDate: string; endDate: string };

/** The three reports, each cached per period for half a minute. */
export function createAnalytics({ reports: db, signals }: Pick<Context, 'reports' | 'signals'>) {
  const kept = { max: 50, ttlMs: keptMs };
  const healths = createCache<LicenseHealth>(signals, 'licenses', kept);
  const trends = createCache<LicenseTrends>(signals, 'licenses', kept);
  const uses = createCache<CustomerUse>(signals, 'licenses', kept);
  const keyOf = ({ startDate, endDate }: Period) => `${startDate} ${endDate}`;
  return {
    health: (now: Date) => healths('now', () => licenseHealth(db, now)),
    trends: (period: Period) => trends(keyOf(period), () => licenseTrends(db, period)),
    customers: (period: Period, now: Date) => uses(keyOf(period), () => customerUse(db, period, now)),
  };
}

/** Current counts, and the error rate (percent) and response time (ms) of the last seven UTC days. */
async function licenseHealth(db: Db, now: Date): Promise<LicenseHealth> {
  const since = new Date(now.getTime() - 6 * dayMs).toISOString().slice(0, 10);
  const [{ rows: stock }, { rows: validations }] = await Promise.all([
    sql<{ activeLicenses: number; activeCustomers: number; totalActivations: string | number }>`
      select count(*) as "activeLicenses", count(distinct l.customer_id) as "activeCustomers",
             coalesce(sum(l.current_activations), 0) as "totalActivations"
        from licenses l join customers c using (customer_id)
       where l.status = 'active' and l.valid_until >= ${now} and c.deleted_at is null and c.status = 'active'`.execute(
      db,
    ),
    sql<{ all: number; failed: number; us: number }>`
      select coalesce(sum(validations), 0)::bigint as all,
             coalesce(sum(validations) filter (where code <> 'VALID'), 0)::bigint as failed,
             coalesce(sum(duration_us), 0)::bigint as us
        from validation_days where day >= ${since}::date`.execute(db),
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
 * The ten customers with the most machines in use, the versions in use, and the licenses that expire in the next weeks.
 * A machine was in use if it was activated before the end of the period and last seen after its start.
 */
export async function customerUse(db: Db, period: Period, now: Date): Promise<CustomerUse> {
  const [{ customers, versions }, expiring, summary] = await Promise.all([
    topCustomers(db, period),
    expiringByWeek(db, now),
    customersByType(db),
  ]);
  return { summary, customers, versions, expiring };
}

/** Activations `a` that were in use in the period. */
const inUse = ({ startDate, endDate }: Period): RawBuilder<boolean> => sql`
  (a.last_checked_at >= ${startDate}::date::timestamp at time zone 'UTC'
   and a.created_at < (${endDate}::date + 1)::timestamp at time zone 'UTC')`;

async function topCustomers(db: Db, period: Period): Promise<Pick<CustomerUse, 'customers' | 'versions'>> {
  const isInUse = inUse(period);
  // Counts licenses of the ten only: counting those of all customers would double the query time.
  const { rows: customers } = await sql<CustomerUse['customers'][number]>`
    with top as (
      select c.customer_id, c.name, machines
        from (select l.customer_id, count(*) as machines from activations a join licenses l using (license_id)
               where ${isInUse} group by l.customer_id) use
        join customers c using (customer_id)
       where c.deleted_at is null order by machines desc, c.name limit 10)
    select customer_id as "customerId", name as company, machines as "activeUsers",
           (select count(distinct a.license_id) from licenses l join activations a using (license_id)
             where l.customer_id = top.customer_id and ${isInUse}) as "activeLicenses"
      from top order by machines desc, name`.execute(db);
  const versions = await versionsOf(
    db,
    period,
    customers.map((customer) => customer.customerId),
  );
  return { customers, versions };
}

async function versionsOf(db: Db, period: Period, customerIds: string[]): Promise<CustomerUse['versions']> {
  if (customerIds.length === 0) return [];
  const { rows } = await sql<CustomerUse['versions'][number]>`
    select c.customer_id as "customerId", c.name as company, coalesce(a.app_version, 'Unknown') as "appVersion", count(*) as machines,
           count(m.activation_id) as "provenMachines"
      from licenses l join activations a using (license_id) join customers c using (customer_id)
      left join machine_credentials m using (activation_id)
     where l.customer_id = any(${customerIds}::uuid[]) and ${inUse(period)}
     group by 1, 3 order by 2, 1, 4 desc, 3`.execute(db);
  return rows;
}

/** Weeks start on Monday, in UTC, beginning with the current one. */
async function expiringByWeek(db: Db, now: Date): Promise<CustomerUse['expiring']> {
  const { rows } = await sql<CustomerUse['expiring'][number]>`
    select to_char(w, 'YYYY-MM-DD') as "weekStart",
           (select count(*) from licenses l join customers c using (customer_id)
             where l.status = 'active' and c.deleted_at is null and l.valid_until >= ${now}
               and l.valid_until >= w at time zone 'UTC' and l.valid_until < (w + interval '7 days') at time zone 'UTC') as count
      from generate_series(date_trunc('week', ${now}::timestamptz at time zone 'UTC'),
                           date_trunc('week', ${now}::timestamptz at time zone 'UTC') + ${weeksAhead - 1} * interval '7 days',
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
