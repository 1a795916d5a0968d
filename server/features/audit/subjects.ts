import { sql } from 'kysely';
import type { AuditEntry } from '../../../contract/audit.ts';
import type { Db } from '../../db/client.ts';

type Bare = Pick<AuditEntry, 'resource_type' | 'resource_id'>;
type Subject = NonNullable<AuditEntry['subject']>;

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** The records that entries are about, by their resource ids; those that are deleted are missing. */
export async function subjectsOf(db: Db, entries: readonly Bare[]): Promise<Map<string, Subject>> {
  const idsOf = (type: string) => [
    ...new Set(
      entries.flatMap((entry) =>
        entry.resource_type === type && entry.resource_id && uuid.test(entry.resource_id)
          ? [entry.resource_id]
          : [],
      ),
    ),
  ];
  const { rows } = await sql<Subject & { resource: string }>`
    select api_key_id as resource, 'api_key' as kind, api_key_id::text as id from api_keys
     where api_key_id = any(${idsOf('api_key')}::uuid[])
    union all
    select customer_id, 'customer', customer_id::text from customers
     where customer_id = any(${idsOf('customer')}::uuid[]) and deleted_at is null
    union all
    select license_id, 'license', license_id::text from licenses
     where license_id = any(${idsOf('license')}::uuid[])
    union all
    select release_id, 'release', release_id::text from releases
     where release_id = any(${idsOf('release')}::uuid[]) and deleted_at is null
    union all
    select a.activation_id, 'machine', m.display_id
      from activations a left join machine_credentials k using (activation_id)
      join machines m on m.machine_hash = coalesce(k.own_hash, machine_hash(a.machine_id))
     where a.activation_id = any(${idsOf('activation')}::uuid[])`.execute(db);
  return new Map(rows.map(({ resource, ...subject }) => [resource, subject]));
}
