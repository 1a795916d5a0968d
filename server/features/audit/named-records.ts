import { sql } from 'kysely';
import type { AuditEntry, NamedRecord } from '../../../contract/audit.ts';
import { isUuid } from '../../../contract/text.ts';
import type { Context } from '../../context.ts';
import { runPrepared } from '../../db/prepared.ts';
import { recordHash } from '../../db/sql.ts';

type Bare = Pick<AuditEntry, 'audit_id' | 'resource_id' | 'changes_summary'>;
/** A record by its id; null: its name is the beginning of the summary. */
type Mention = { entry: string; id: string; name: string | null };
type Found = Omit<NamedRecord, 'name'> & Omit<Mention, 'id'>;

const uuid = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gi;
/** From the beginning of a word: else the time would grow with the square of its length. */
const email = /(?<![^\s(])[^\s(]+@[^\s:)]+/g;

/**
 * The records with a page that entries name, by the ids of the entries; those that are deleted are missing. Entries name
 * records besides their own in their values, and through the request that they are about.
 */
export async function namedRecords(
  { db, pool }: Pick<Context, 'db' | 'pool'>,
  entries: readonly Bare[],
): Promise<ReadonlyMap<string, NamedRecord[]>> {
  const mentions = entries
    .flatMap(({ audit_id: entry, resource_id: id, changes_summary: text }): Mention[] => [
      ...(id ? [{ entry, id, name: null }] : []),
      ...(text.match(uuid) ?? []).map((named) => ({ entry, id: named, name: named })),
    ])
    // the resource id of an altered entry may be any text, and the entry is shown nevertheless
    .filter(({ id }) => isUuid(id));
  const emails = entries.flatMap(({ audit_id: entry, changes_summary: text }) =>
    (text.match(email) ?? []).map((name) => ({ entry, name })),
  );
  const query = sql<Found>`
    with e as materialized (
      select audit_id, resource_type, resource_id, before, after from audit_entries
       where audit_id = any(${entries.map(({ audit_id }) => audit_id)}::uuid[])),
    further (entry, id, said) as (
      select audit_id, id, id
        from e cross join lateral (values (before), (after)) as v (r)
       cross join lateral (values (r->>'customerId'), (r->>'licenseId'), (r->>'releaseId')) as ids (id)
      union select audit_id, r->>'customerId', r->'customer'->>'name'
        from e cross join lateral (values (before), (after)) as v (r)
       where resource_type = 'license' and r->'customer'->>'name' is not null
         and before->>'customerId' is distinct from after->>'customerId'
      union select audit_id, subject_id, subject
        from e join change_requests c on c.request_id::text = resource_id where resource_type = 'approval'
      union select audit_id, release_id::text, version
        from e join releases on release_id::text = after#>>'{filter,releaseId}' where resource_type = 'machine'),
    named (entry, key, said) as materialized (
      select * from unnest(${mentions.map(({ entry }) => entry)}::uuid[], ${mentions.map(({ id }) => id)}::uuid[],
                           ${mentions.map(({ name }) => name)}::text[])
      union
      select entry, case when id ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then id::uuid end, said from further)
    select entry, 'customer' as kind, key::text as id, said as name, null as hostname
      from named join customers on customer_id = key
    union select entry, 'license', key::text, said, null from named join licenses on license_id = key
    union select entry, 'api_key', key::text, said, null from named join api_keys on api_key_id = key
    union select entry, 'release', key::text, said, null
      from named join releases on release_id = key where deleted_at is null
    union select entry, 'license', license_id::text, license_key, null
      from named join activations on activation_id = key join licenses using (license_id)
    union select entry, 'machine', m.display_id, a.machine_id, a.hostname
      from named join activations a on activation_id = key left join machine_credentials k using (activation_id)
      join machines m on m.machine_hash = ${recordHash('k', 'a')}
    union select entry, 'user', u.email, e.name, null
      from unnest(${emails.map(({ entry }) => entry)}::uuid[], ${emails.map(({ name }) => name)}::text[]) as e (entry, name)
      join users u on lower(u.email) = lower(e.name)
    -- an entry shown twice names its records in the same order
    order by entry, kind, id, name`;
  const rows = await runPrepared(pool, query.compile(db));
  return new Map(
    entries.map(({ audit_id, changes_summary: text }) => {
      const [beginning = text] = text.split(': ', 1);
      const records = rows.filter(({ entry }) => entry === audit_id);
      return [
        audit_id,
        records.map(({ kind, id, name, hostname }) => ({ kind, id, name: name ?? beginning, hostname })),
      ];
    }),
  );
}
