import { withClient } from '../../server/db/with-client.ts';
import { sizesAt, withoutIndexes } from './dataset.ts';

export const historySizes = { auditEntries: 5_000_000, validations: 20_000_000 };

/**
 * Fills in a year of audit entries and validations with their daily counts, in bulk: without triggers. The entries are not part of the sealed chain. `licenses`: how many there are.
 */
export async function fillHistory(
  databaseUrl: string,
  scale: number,
  licenses = sizesAt(scale).licenses,
): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    await client.query(`set session_replication_role = replica; set synchronous_commit = off;
                        set maintenance_work_mem = '1GB'; set work_mem = '256MB'`);
    await withoutIndexes(client, 'audit_entries', () =>
      client.query(auditSql, [Math.round(historySizes.auditEntries * scale)]),
    );
    await client.query(validationsSql, [Math.round(historySizes.validations * scale), licenses]);
    await client.query(validationDaysSql);
    await client.query(activeDaysSql);
    await client.query('vacuum analyze');
  });
}

const auditSql = `
  insert into audit_entries (audit_id, timestamp, user_id, user_email, user_role, event_type, resource_type,
    resource_id, changes_summary, before, after, api_endpoint, ip_address, request_id, success, error_message)
  select gen_random_uuid(), now() - n * interval '6 seconds', null, 'staff' || n % 40 || '@example.org', 'license_manager',
         (array['license.created','license.updated','customer.updated','activation.created','session.created'])[1 + n % 5],
         (array['license','license','customer','activation','session'])[1 + n % 5],
         md5((n / 7)::text)::uuid::text, 'Changed maxActivations, validUntil', null, '{"maxActivations": 5}',
         'PATCH /api/v1/licenses/{id}', '10.0.' || n % 250 || '.' || n % 200, gen_random_uuid()::text,
         n % 50 <> 0, case when n % 50 = 0 then 'You lack the permission licenses:update.' end
    from generate_series(1, $1::int) n`;

const validationsSql = `
  insert into validations (occurred_at, code, duration_us, license_id, customer_id, machine_id, app_version)
  select now() - (n % 31000000) * interval '1 second',
         case when n % 40 = 0 then 'EXPIRED' when n % 90 = 0 then 'TOO_MANY_ACTIVATIONS' else 'VALID' end,
         900 + n % 800, l.license_id, l.customer_id, 'ws-' || n % 3, '4.' || n % 5 || '.0'
    from generate_series(1, $1::int) n
    join (select license_id, customer_id, row_number() over () - 1 as place from licenses) l
      on l.place = n % $2::int`;

const validationDaysSql = `
  insert into validation_days (day, code, validations, duration_us)
  select (occurred_at at time zone 'UTC')::date, code, count(*), sum(duration_us) from validations group by 1, 2
  on conflict (day, code) do update set validations = excluded.validations, duration_us = excluded.duration_us`;

const activeDaysSql = `
  insert into active_days (day, machines, licenses, customers)
  select day, count(*), count(distinct license_id), count(distinct customer_id)
    from (select distinct (occurred_at at time zone 'UTC')::date as day, license_id, machine_id, customer_id
            from validations where code = 'VALID') valid
   group by day
  on conflict (day) do update set machines = excluded.machines, licenses = excluded.licenses,
    customers = excluded.customers`;
