import { withClient } from '../../server/db/with-client.ts';
import { withoutIndexes } from './dataset.ts';
import { dataOf, type Stage } from './stage.ts';

export const updateSizes = { machines: 1_000_000, releases: 200, events: 10_000_000 };

/** The newest stable release for Windows and the one before, each installed on that many machines. */
const watchedVersion = '4.32.0';
const previousVersion = '4.31.3';
const watchedMachines = 100_000;

/**
 * Fills in releases on three platforms and channels, machines with a version, and a month of update events, in bulk.
 * `scale` reduces the number of machines and events.
 */
export async function fillUpdates(databaseUrl: string, scale: number): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    await client.query(releasesSql, [updateSizes.releases]);
    await client.query(
      'insert into release_totals (release_id) select release_id from releases on conflict do nothing',
    );
    const machines = Math.round(updateSizes.machines * scale);
    // without the checks of foreign keys
    await client.query('set session_replication_role = replica');
    await withoutIndexes(client, 'machines', () => client.query(machinesSql, [machines]));
    await withoutIndexes(client, 'activations', () => client.query(seatsSql, [machines]));
    await client.query(customerMachinesSql);
    await client.query("insert into customer_tags select customer_id, 'bench' from customers");
    await withoutIndexes(client, 'update_events', () =>
      client.query(eventsSql, [Math.round(updateSizes.events * scale), machines]),
    );
    await client.query(daysSql);
    for (const version of [watchedVersion, previousVersion]) {
      await client.query(downloadsSql, [version, Math.min(watchedMachines, machines)]);
      await client.query(offersSql, [version, Math.min(watchedMachines, machines)]);
    }
    await client.query('vacuum analyze');
    await client.query("select pg_notify('lanyard', 'releases')");
  });
}

/** The id of the newest stable release for Windows. */
export async function watchedRelease({
  ours,
  staff: headers,
}: Pick<Stage, 'ours' | 'staff'>): Promise<string> {
  const list = `${ours}/api/v1/updates/admin/releases?search=${watchedVersion}`;
  const data = await dataOf<{ id: string; version: string }[]>(list, headers);
  const found = data.find(({ version }) => version === watchedVersion);
  if (!found) throw new Error(`There is no release ${watchedVersion}`);
  return found.id;
}

const releasesSql = `
  insert into releases (release_id, version, channel, platform, architecture, is_draft, is_mandatory,
    rollout_percentage, rollout_salt, release_date, file_name, file_kind, file_size, storage_key, sha512, sha1,
    failures_from, created_at, updated_at)
  select gen_random_uuid(), '4.' || (n / 6) || '.' || (n % 6), (array['stable','stable','beta','alpha'])[1 + n % 4],
         p.platform, 'x64', false, false, case when n > $1 - 6 then 5 else 100 end, md5(n::text),
         now() - ($1 - n) * interval '1 day', 'App-4.' || (n / 6) || '.' || (n % 6) || '.' || p.kind, p.kind,
         90000000, 'bench/' || n, encode(sha512(n::text::bytea), 'base64'), null, now() - ($1 - n) * interval '1 day', now(), now()
    from generate_series(1, $1::int) n
    cross join lateral (select (array['win32','darwin','linux'])[1 + n % 3] as platform,
                               (array['exe','zip','appimage'])[1 + n % 3] as kind) p
  on conflict do nothing`;

const machinesSql = `
  insert into machines (machine_hash, display_id, platform, architecture, channel, last_version, first_seen, last_seen,
                        last_check_day, total_checks, total_events)
  select h, upper(substr(encode(h, 'hex'), 1, 16)), (array['win32','win32','darwin','linux'])[1 + n % 4], 'x64', 'stable',
         '4.' || (n % 30) || '.0', now() - interval '300 days', now() - (n % 2592000) * interval '1 second',
         (now() - interval '1 day')::date, 100, 120
    from (select n, sha256(convert_to('bench-' || n, 'UTF8')) as h from generate_series(1, $1::int) n) m`;

/**
 * Each machine belongs to a customer by its seat, on a license of any state; the policy of their tag is set by the job
 * that needs it.
 */
const seatsSql = `
  insert into activations (activation_id, license_id, machine_id, status, activation_type, platform,
                           last_checked_at, created_at, updated_at)
  select gen_random_uuid(), l.license_id, 'bench-' || n, 'active', 'automatic', 'win32', now(), now(), now()
    from generate_series(1, $1::int) n
    join (select license_id, row_number() over (order by license_id) - 1 as i from licenses) l
      on l.i = n % (select count(*) from licenses)`;

/** As the triggers would. */
const customerMachinesSql = `
  insert into customer_machines (customer_id, machines)
  select customer_id, count(*) from licenses join activations using (license_id) group by customer_id
  on conflict (customer_id) do update set machines = excluded.machines`;

const eventsSql = `
  insert into update_events (event_id, occurred_at, machine_hash, event_type, success, from_version, to_version)
  select gen_random_uuid(), now() - (n % 2592000) * interval '1 second',
         sha256(convert_to('bench-' || (1 + n % $2), 'UTF8')), 'check', true, '4.1.0', null
    from generate_series(1, $1::bigint) n`;

/** Machines that installed a release, and the release before it. */
const downloadsSql = `
  insert into downloads (download_id, machine_hash, release_id, version, started_at, completed_at, offered_at,
                         fetched_at, installed_at, install_failed, failure_code, from_version)
  select gen_random_uuid(), sha256(convert_to('bench-' || n, 'UTF8')), r.release_id, r.version, t, t, t, t, t,
         n % 100 = 0, case when n % 100 = 0 then 'E' || n % 7 end, '4.' || (n % 30) || '.0'
    from generate_series(1, $2::int) n
    cross join (select * from releases where version = $1 and platform = 'win32') r
    cross join lateral (select r.release_date + (n % 700000) * interval '1 second' as t) at`;

const offersSql = `
  insert into release_offers (release_id, machine_hash, offered_at)
  select r.release_id, sha256(convert_to('bench-' || n, 'UTF8')), r.release_date
    from generate_series(1, $2::int) n
    cross join (select * from releases where version = $1 and platform = 'win32') r`;

const daysSql = `
  insert into update_days (day, total_checks, unique_machines)
  select (now() - n * interval '1 day')::date, 300000 + n * 1000, 250000 from generate_series(1, 30) n
  on conflict do nothing`;
