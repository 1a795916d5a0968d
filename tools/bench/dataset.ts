import { createHash } from 'node:crypto';
import type pg from 'pg';
import { withClient } from '../../server/db/with-client.ts';

const sizes = { customers: 5_000, licenses: 100_000, activations: 300_000 };

/** The sizes of a run: those of a scale of 0.1 and more are full, since its targets are for that many licenses. */
export const sizesAt = (scale: number): typeof sizes => {
  const part = Math.min(1, 10 * scale);
  const { customers, licenses, activations } = sizes;
  return {
    customers: Math.round(customers * part),
    licenses: Math.round(licenses * part),
    activations: Math.round(activations * part),
  };
};

/** What the requests contain: licenses, machines that hold a seat on them, and the tokens of these machines. */
export type Sample = { licenseKey: string; machineId: string; token: string }[];

const secret = 'b'.repeat(43);

/**
 * Fills an empty, migrated database in bulk: customers, licenses in every state, activations. Returns a random sample of
 * usable licenses.
 */
export async function fillDatabase(
  databaseUrl: string,
  newKey: () => string,
  { customers, licenses, activations }: typeof sizes,
): Promise<Sample> {
  await withClient(databaseUrl, async (client) => {
    await client.query('select setseed(0.42)');
    await client.query(customersSql, [customers]);
    const keys = Array.from({ length: licenses }, newKey);
    await withoutIndexes(client, 'licenses', async () => {
      await client.query(licensesSql, [keys]);
      await withoutIndexes(client, 'activations', () =>
        client.query(activationsSql, [activations / licenses]),
      );
      await client.query(`update licenses l set current_activations = n from
        (select license_id, count(*) as n from activations group by 1) a where a.license_id = l.license_id`);
    });
    await client.query(`update license_days d set seen_day = a.day from (
      select license_id, max((last_checked_at at time zone 'UTC')::date) as day from activations group by 1) a
      where a.license_id = d.license_id`);
    await client.query('vacuum analyze');
    await client.query(credentialsSql, [createHash('sha256').update(secret).digest()]);
  });
  return sampleOf(databaseUrl);
}

/** Creates the indexes of a table, but for those of constraints, after `work`, which takes a fraction of the time. */
export async function withoutIndexes(
  client: pg.Client,
  table: string,
  work: () => Promise<unknown>,
): Promise<void> {
  const { rows } = await client.query<{ indexname: string; indexdef: string }>(
    `select indexname, indexdef from pg_indexes
      where tablename = $1 and indexname not in (select conname from pg_constraint)`,
    [table],
  );
  for (const { indexname } of rows) await client.query(`drop index ${indexname}`);
  await work();
  // that of a partitioned table says ONLY, without its partitions
  for (const { indexdef } of rows) await client.query(indexdef.replace(' ON ONLY ', ' ON '));
}

/** The usable licenses of a filled database that have a token, in random order. */
export const sampleOf = (databaseUrl: string): Promise<Sample> =>
  withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<Sample[number]>(sampleSql, [`_${secret}`]);
    return rows;
  });

const customersSql = `
  insert into customers (customer_id, name, email, country, created_at, updated_at)
  select gen_random_uuid(),
         (array['St. Mary','Northside','Charité','Karolinska','Osaka','Clínica','Rigshospitalet','Saint-Louis',
                'Groote','Auckland'])[1 + n % 10] || ' ' ||
         (array['Hospital','Clinic','Laboratory','Institute','Medical Center'])[1 + (n / 10) % 5] || ' ' || n,
         'it' || n || '@example.org', (array['DE','FR','US','JP','SE','CL','ZA','NZ'])[1 + n % 8],
         now() - n * interval '1 hour', now()
    from generate_series(1, $1::int) n`;

const licensesSql = `
  with owners as (select customer_id, row_number() over (order by name) - 1 as n from customers)
  insert into licenses (license_id, license_key, customer_id, type, status, valid_from, valid_until,
                        max_activations, module_ids, created_at, updated_at)
  select gen_random_uuid(), k.key, o.customer_id,
         case when k.i % 5 = 0 then 'trial' else 'enterprise' end,
         case when k.i % 10 = 9 then 'revoked' else 'active' end,
         now() - interval '400 days', now() + (k.i % 500 - 60) * interval '1 day' + interval '1 hour',
         3 + (k.i % 6)::int,
         case k.i % 4 when 0 then array['mod_lung_nodule'] when 1 then array['mod_prostate','mod_copd']
                      when 2 then array['mod_histology','mod_diabetes'] else array['mod_melanoma','mod_cytology'] end,
         now() - (k.i % 1000) * interval '1 hour', now()
    from unnest($1::text[]) with ordinality as k (key, i)
    join owners o on o.n = k.i % (select count(*) from customers)`;

const activationsSql = `
  insert into activations (activation_id, license_id, machine_id, status, activation_type, hostname, platform,
                           last_checked_at, created_at, updated_at)
  select gen_random_uuid(), l.license_id, md5(l.license_key || m), 'active', 'automatic', 'ws-' || m, 'win32',
         now() - random() * interval '7 days', now() - interval '30 days', now()
    from licenses l, generate_series(1, $1::int) m`;

const credentialsSql = `
  insert into machine_credentials (activation_id, public_key, token_id, secret_hash, enrolled_at)
  select activation_id, sha256(activation_id::text::bytea), 'lym_' || substr(md5(activation_id::text), 1, 12), $1, now()
    from licenses l join activations a using (license_id) join customers c using (customer_id)
   where l.status = 'active' and l.valid_until > now() + interval '1 day' and c.deleted_at is null
   order by random() limit 20000`;

const sampleSql = `
  select l.license_key as "licenseKey", a.machine_id as "machineId", m.token_id || $1 as token
    from machine_credentials m join activations a using (activation_id) join licenses l using (license_id)
   order by md5(m.token_id)`;
