import { byWidth, type Channel } from '../../../contract/versions.ts';
import type { ChannelApproval } from '../../../contract/approvals.ts';
import type { Change } from '../../change.ts';
import type { Db } from '../../db/client.ts';
import { nextUpdatedAt } from '../../db/sql.ts';
import type { Failure } from '../../failure.ts';
import { needsApproval } from './needs-approval.ts';

/** Every channel with its setting, in the order of the contract. */
export async function listChannels(db: Db): Promise<ChannelApproval[]> {
  const rows = await db.selectFrom('channel_approvals').selectAll().execute();
  return rows.toSorted((a, b) => byWidth(a.channel, b.channel)).map(toSetting);
}

/** Sets whether a channel requires approvals. Returns NEEDS_APPROVAL unless a second person consented. */
export async function setChannel(
  { tx, by, now, audit }: Change,
  channel: Channel,
  required: boolean,
): Promise<ChannelApproval | Failure> {
  const row = await tx
    .selectFrom('channel_approvals')
    .selectAll()
    .where('channel', '=', channel)
    .forUpdate()
    .executeTakeFirstOrThrow();
  const before = toSetting(row);
  if (before.required === required) return before;
  const what = required
    ? 'require the approval of a second person'
    : 'no longer require the approval of a second person';
  if (by.consent?.subjectId !== channel)
    return needsApproval({
      subjectId: channel,
      seen: before.updatedAt,
      subject: `Channel ${channel}`,
      what,
      changes: [{ field: 'required', from: before.required, to: required }],
    });
  const updated_at = nextUpdatedAt(row.updated_at, now);
  await tx
    .updateTable('channel_approvals')
    .set({ required, updated_at })
    .where('channel', '=', channel)
    .execute();
  const after = toSetting({ ...row, required, updated_at });
  await audit('channel.approval_changed', after, { what, before, after });
  return after;
}

const toSetting = (row: { channel: Channel; required: boolean; updated_at: Date }): ChannelApproval => ({
  channel: row.channel,
  required: row.required,
  updatedAt: row.updated_at.toISOString(),
});
