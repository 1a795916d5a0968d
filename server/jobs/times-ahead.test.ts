import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { describe, expect, test } from 'vitest';
import { apiKeys } from '../../contract/api-keys.ts';
import { enrollOn, makeApiKey, makeLicense, makeRelease, validateOn } from '../../tests/factories.ts';
import { checkedTime, days, eventually, seconds, startTestServer } from '../../tests/harness.ts';
import { issueTo, offlineMachine } from '../../tests/offline-machine.ts';
import { uploader } from '../../tests/uploading.ts';
import { cancelAbandoned } from '../features/uploads/index.ts';
import { housekeep } from './housekeeping.ts';

/* What a clock that was ahead left in the future: docs/decisions/036-checked-time.md. */

/** Why a column may keep a time to come, and the columns. Each other one is set to the present. */
const mayStay: Record<string, string[]> = {
  'a person may choose a time to come': [
    'api_keys.expires_at',
    'change_requests.seen',
    'licenses.valid_from',
    'licenses.valid_until',
    'license_files.ends_at',
    'activations.offline_until',
    'releases.plan_starts_at',
  ],
  'part of what is sealed, or kept as it was written': [
    'audit_anchors.before',
    'audit_anchors.made_at',
    'audit_entries.timestamp',
    'audit_seals.sealed_at',
    'installation_keys.added_at',
    'installation_keys.ended_at',
    'schema_migrations.applied_at',
    'update_events.occurred_at',
    'validations.occurred_at',
  ],
  'a version, which dates nothing': [
    'api_keys.updated_at',
    'channel_approvals.updated_at',
    'customers.updated_at',
    'licenses.updated_at',
    'roles.updated_at',
    'rollout_defaults.updated_at',
    'saved_views.updated_at',
    'update_policies.updated_at',
    'users.updated_at',
  ],
  'compared only with refusals, and with transfers, which correct it': ['activations.updated_at'],
  'only shown, or only whether it is set': [
    'activations.created_at',
    'api_keys.created_at',
    'api_keys.revoked_at',
    'change_requests.decided_at',
    'customers.created_at',
    'customers.deleted_at',
    'license_files.returned_at',
    'licenses.created_at',
    'machine_credentials.cloned_at',
    'machine_credentials.enrolled_at',
    'machines.proven_at',
    'release_offers.offered_at',
    'releases.affected_due',
    'releases.failures_claimed_at',
    'saved_views.created_at',
    'saved_views.deleted_at',
    'upload_chunks.done_at',
    'uploads.created_at',
    'users.created_at',
    'users.totp_confirmed_at',
    'withdrawn_machines.withdrawn_at',
  ],
  'the next sign of the user or machine replaces it': [
    'downloads.completed_at',
    'downloads.fetched_at',
    'downloads.installed_at',
    'downloads.offered_at',
    'downloads.started_at',
    'machines.first_seen',
    'users.last_sign_in_at',
  ],
  'counts only in its own hour or less, or keeps its row longer': [
    'audit_refusals.window_start',
    'budget_hours.hour',
    'budget_hours.told_at',
    'day_figures.at',
    'idempotency_keys.created_at',
    'login_failures.window_start',
    'update_event_ids.seen_at',
    'uploads.claimed_at',
  ],
  'is what clocks are compared with': ['newest_moment.at'],
};

const partsOf = (place: string) => {
  const [table, column] = place.split('.') as [string, string];
  return [sql.table(table), sql.ref(column)] as const;
};

describe('a clock that was ahead', () => {
  test('leaves no time to come in a column that has no reason for it', async () => {
    const own = await startTestServer();
    const session = await own.signInAs('super_admin');
    const staff = own.api(session);
    const [license, key] = [await makeLicense(staff, { maxActivations: 9 }), await makeApiKey(staff)];
    await enrollOn(own, license, 'enrolled');
    await issueTo(staff, license, offlineMachine('offline'));
    await validateOn(own.api(key), license, 'enrolled');
    await eventually(async () => (await own.db.selectFrom('machines').selectAll().execute()).length > 0);
    await makeRelease(own);
    const { uploadId } = await uploader(own.url, staff, session).prepare(Buffer.from('MZ'));
    const [{ licenseId, customerId }, id, now] = [license, uuidv7(), own.clock.now()];
    for (const row of [
      sql`upload_chunks (upload_id, index) values (${uploadId}, 0)`,
      sql`past_license_owners (license_id, customer_id, until) values (${licenseId}, ${customerId}, ${now})`,
      sql`rotated_cookies (cookie_hash, session_id, rotated_at)
          select decode('00', 'hex'), session_id, ${now} from sessions limit 1`,
      sql`license_refusals (license_id, code, last_at) values (${licenseId}, 'EXPIRED', ${now})`,
      sql`refusals (license_id, machine_id, code, since, refused_at)
          values (${licenseId}, 'refused', 'EXPIRED', ${now}, ${now})`,
      sql`change_requests (request_id, call, params, subject_id, seen, subject, what, changes, requested_by,
                           requested_by_email, requested_at, expires_at)
          values (${id}, '', '{}', '', ${now}, '', '', '[]', ${id}, '', ${now}, ${now})`,
    ])
      await sql`insert into ${row}`.execute(own.db);

    const { rows } = await sql<{ place: string }>`
      select c.relname || '.' || a.attname as place from pg_class c join pg_attribute a on a.attrelid = c.oid
       where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
         and a.atttypid = 'timestamptz'::regtype and a.attnum > 0 and not a.attisdropped order by 1`.execute(
      own.db,
    );
    const all = rows.map(({ place }) => place);
    const staying = Object.values(mayStay).flat();
    expect(
      staying.filter((place) => !all.includes(place)),
      'columns that there are not',
    ).toEqual([]);
    const corrected = all.filter((place) => !staying.includes(place));
    const lateIn = async (place: string) => {
      const [table, column] = partsOf(place);
      const isLate = sql`${column} > ${now}::timestamptz + interval '1 day'`;
      return (await sql`select from ${table} where ${isLate}`.execute(own.db)).rows.length > 0;
    };
    const late = async () => {
      const found = await Promise.all(corrected.map(lateIn));
      return corrected.filter((_, i) => found[i]);
    };
    for (const place of corrected) {
      const [table, column] = partsOf(place);
      await sql`update ${table} set ${column} = ${now}::timestamptz + interval '30 days'`.execute(own.db);
    }
    expect(await late(), 'columns without a row here').toEqual(corrected);
    await housekeep(own.context, checkedTime(own));
    await cancelAbandoned(own.context, checkedTime(own));
    expect(await late()).toEqual([]);
  });

  test('hides no later use of an API key', async () => {
    const own = await startTestServer();
    const staff = own.api((await own.signInAs('super_admin')).byCookie);
    const key = await makeApiKey(staff);
    const license = await makeLicense(staff);
    const right = own.clock.now();
    const lastUse = () => staff.ok(apiKeys.get, { params: { keyId: key.id } });
    own.clock.advance(days(30));
    await validateOn(own.api(key), license, 'a machine');
    const ahead = own.clock.now().toISOString();
    await eventually(async () =>
      expect(await own.db.selectFrom('api_keys').select('last_used_at').execute()).toEqual([
        { last_used_at: new Date(ahead) },
      ]),
    );
    own.clock.set(right);
    await housekeep(own.context, checkedTime(own));
    expect((await lastUse()).lastUsedAt).toBe(right.toISOString());
    own.clock.advance(seconds(1));
    await validateOn(own.api(key), license, 'a machine');
    await eventually(async () => expect((await lastUse()).lastUsedAt).toBe(own.clock.now().toISOString()));
  });
});
