import type { RolloutDefault } from '../../../contract/rollouts.ts';
import { planText } from '../../../contract/next-step.ts';
import type { RolloutPlan } from '../../../contract/rollout-plan.ts';
import type { Channel } from '../../../contract/versions.ts';
import { channels } from '../../../contract/list-words.ts';
import type { Change } from '../../change.ts';
import type { Db } from '../../db/client.ts';
import { editConflict } from '../../edit-record.ts';
import type { Failure } from '../../failure.ts';

/** The plan that the release form suggests, for each channel. */
export async function rolloutDefaults(db: Db): Promise<RolloutDefault[]> {
  const rows = await db.selectFrom('rollout_defaults').select(['channel', 'plan']).execute();
  return channels.map((channel) => ({
    channel,
    plan: rows.find((row) => row.channel === channel)?.plan ?? null,
  }));
}

/** Sets that plan for a channel; null: the form asks for a percentage. `seen`: the plan that the user loaded. */
export async function setRolloutDefault(
  change: Change,
  channel: Channel,
  { plan, seen }: { plan: RolloutPlan | null; seen?: RolloutPlan | null | undefined },
): Promise<RolloutDefault | Failure> {
  const { tx, now } = change;
  await tx
    .insertInto('rollout_defaults')
    .values({ channel, plan: null, updated_at: now })
    .onConflict((on) => on.doNothing())
    .execute();
  const stored = await tx
    .selectFrom('rollout_defaults')
    .select('plan')
    .where('channel', '=', channel)
    .forUpdate()
    .executeTakeFirstOrThrow();
  const textOf = (one: RolloutPlan | null) => (one ? planText(one) : 'no plan');
  const [before, after] = [textOf(stored.plan), textOf(plan)];
  if (before === after) return { channel, plan };
  if (seen !== undefined && textOf(seen) !== before)
    return editConflict('default rollout', [{ path: 'plan', current: stored.plan, yours: plan }]);
  await tx
    .updateTable('rollout_defaults')
    .set({ plan: plan && JSON.stringify(plan), updated_at: now })
    .where('channel', '=', channel)
    .execute();
  await change.audit(
    'rollout_default.changed',
    { channel },
    { what: `${before} → ${after}`, before: { plan: stored.plan }, after: { plan } },
  );
  return { channel, plan };
}
