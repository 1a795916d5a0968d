import type { AuditDetail } from '../../../contract/audit.ts';
import { isUuid } from '../../../contract/text.ts';
import type { Context } from '../../context.ts';
import { fail, type Failure } from '../../failure.ts';
import { toEntry } from './audit-list.ts';
import { namedRecords } from './named-records.ts';
import { present } from '../../invariants.ts';

const notFound = fail('NOT_FOUND', 'There is no such audit entry.');

/** An entry with the state before and after, the request it came from, and its position in the chain. */
export async function getEntry(
  context: Pick<Context, 'db' | 'pool'>,
  id: string,
): Promise<AuditDetail | Failure> {
  if (!isUuid(id)) return notFound;
  const row = await context.db
    .selectFrom('audit_entries as e')
    .leftJoin('audit_seals as s', 's.audit_id', 'e.audit_id')
    .selectAll('e')
    .select(['s.sequence', 's.sealed_at'])
    .where('e.audit_id', '=', id)
    .executeTakeFirst();
  if (!row) return notFound;
  return {
    ...toEntry(row, await namedRecords(context, [row])),
    user_id: row.user_id,
    user_agent: row.user_agent,
    request_id: row.request_id,
    before: row.before as AuditDetail['before'],
    after: row.after as AuditDetail['after'],
    seal: row.sealed_at && {
      sequence: present(row.sequence, 'a sealed entry has its place'),
      sealedAt: row.sealed_at.toISOString(),
    },
  };
}
