import { isDeepStrictEqual } from 'node:util';
import { subjectOf } from '../../../contract/audit-events.ts';
import { measuredFailures } from '../../../contract/guard.ts';
import type { Release } from '../../../contract/releases.ts';
import { offerText } from '../../../contract/next-step.ts';
import { asSentence } from '../../../contract/text.ts';
import { channelsReached, compareVersions, type Channel } from '../../../contract/versions.ts';
import type { Change } from '../../change.ts';
import type { Db } from '../../db/client.ts';
import { fail, type Failure } from '../../failure.ts';
import { lastOut, pauseEndedAlone } from './release-entries.ts';

/** A release before and after a change; `deletedAt` is set while it is in the recycle bin. */
type Changing = Release & { deletedAt?: string };

/** A change that needs approval: what a request for it is about. */
export type Wanted = {
  /** The id of the release, or the name of the channel. */
  subjectId: string;
  /** `updatedAt` before the change. */
  seen: string;
  subject: string;
  what: string;
  changes: { field: string; from: unknown; to: unknown }[];
};

/** NEEDS_APPROVAL; its details list every change and the stored version, for the user who asks a second person. */
type NeedsApproval = Failure & { wanted: Wanted };

export function needsApproval(wanted: Wanted): NeedsApproval {
  const { subject, what, changes, seen } = wanted;
  const failure = fail(
    'NEEDS_APPROVAL',
    `${subject}: ${asSentence(what)} This needs the approval of a second person.`,
    {
      details: [
        ...changes.map(({ field, from, to }) => ({
          path: field,
          message: 'Would change',
          current: from,
          yours: to,
        })),
        { path: 'updatedAt', message: 'The stored version', current: seen },
      ],
    },
  );
  return { ...failure, wanted };
}

export const isNeedsApproval = (value: unknown): value is NeedsApproval =>
  typeof value === 'object' && value !== null && 'wanted' in value;

/**
 * The rule of two people for a change of a release: NEEDS_APPROVAL if a channel that it reaches, or reached before,
 * requires approvals, the change needs one, and no second person consented to it. Lanyard itself needs none: it pauses,
 * and moves along approved plans.
 */
export async function refuseAlone(
  { tx, by }: Pick<Change, 'tx' | 'by'>,
  before: Changing,
  after: Changing,
): Promise<Failure | undefined> {
  if (by.actor.kind === 'system' || by.consent?.subjectId === after.id) return undefined;
  const what = whatNeedsApproval(before, after);
  if (what === undefined || !(await requireApproval(tx, [before.channel, after.channel]))) return undefined;
  // the approver may not know of a pause that one person ended where no approval was needed
  const isBack = enters(before, after);
  const ended = isBack ? await pauseEndedAlone(tx, after.id) : undefined;
  const was = isBack ? await lastOut(tx, after.id) : undefined;
  const older = was && reachingOlder(was, after);
  const warning = ended ? `, after ${ended.by} alone ended a pause by the service: ${ended.reason}` : '';
  return needsApproval({
    subjectId: before.id,
    seen: before.updatedAt,
    subject: subjectOf('release.updated', before).name,
    what: what + (older ? `, and ${older}` : '') + warning,
    changes: changesBetween(before, after),
  });
}

/** The same for a new release, which can only be published later, since nobody can approve what does not exist. */
export async function refusePublished(
  db: Db,
  by: Change['by'],
  { isDraft, channel }: Pick<Release, 'isDraft' | 'channel'>,
): Promise<Failure | undefined> {
  if (isDraft || by.actor.kind === 'system' || !(await requireApproval(db, [channel]))) return undefined;
  return fail(
    'NEEDS_APPROVAL',
    `Publishing on the channel ${channel} needs the approval of a second person. Create the release as a draft, then publish it: you can ask for the approval there.`,
  );
}

/**
 * Whether a channel requires approvals whose machines receive releases of one of these channels: machines receive those
 * of wider channels too. Waits for a change of the setting in progress, and holds up later ones until the transaction
 * ends.
 */
async function requireApproval(db: Db, of: readonly Channel[]): Promise<boolean> {
  const rows = await requiring(db, of).orderBy('channel').forShare().execute();
  return rows.some(({ required }) => required);
}

const requiring = (db: Db, of: readonly Channel[]) =>
  db.selectFrom('channel_approvals').select('required').where('channel', 'in', of.flatMap(channelsReached));

/**
 * Whether two people agreed to the plan that a change sets or publishes; undefined where it does neither, so that an
 * earlier agreement remains.
 */
export function isPlanApproved(
  { actor, consent }: Change['by'],
  before: Changing,
  after: Changing,
): boolean | undefined {
  if (after.rolloutPlan === null || actor.kind === 'system') return undefined;
  const isShown = planOf(before) !== planOf(after) || enters(before, after);
  return isShown ? consent?.subjectId === after.id : undefined;
}

/**
 * Whether the clock must leave a step to `percentage` to two people: one person set the plan before a channel that it
 * reaches required approvals.
 */
export async function stepNeedsApproval(
  db: Db,
  { id, channel, rolloutPercentage }: Release,
  percentage: number,
): Promise<boolean> {
  if (percentage < 100 || rolloutPercentage === 100) return false;
  const unapproved = await db
    .selectFrom('releases')
    .select('release_id')
    .where('release_id', '=', id)
    .where('plan_approved', '=', false)
    .where((eb) => eb.exists(requiring(db, [channel]).where('required', '=', true)))
    .executeTakeFirst();
  return unapproved !== undefined;
}

/** The part of a change that one person may not make alone; undefined if there is none. */
function whatNeedsApproval(before: Changing, after: Changing): string | undefined {
  // also while it is out of the feeds: who approves that it comes back is not told of a pause that ended before
  if (before.pausedAt !== null && before.pausedBy === null && after.pausedAt === null)
    return `resume at ${after.rolloutPercentage} % after a pause by the service: ${before.pauseReason ?? 'no reason given'}`;
  if (!isOut(after)) return undefined;
  if (enters(before, after)) return `${entering(before, after)} ${offerText(after)}${setAlone(after)}`;
  if (after.rolloutPercentage === 100 && before.rolloutPercentage < 100)
    return `widen from ${before.rolloutPercentage} % to 100 %`;
  // the service takes the steps of a plan, and asks nobody
  if (reachesAll(after) && before.rolloutPercentage < 100 && planOf(before) !== planOf(after))
    return `roll out ${offerText(after)}`;
  return reachingOlder(before, after) ?? overridingPolicies(before, after) ?? weakeningGuard(before, after);
}

/** A lower minimum version offers the release to machines that it was never published to. */
function reachingOlder(
  before: Pick<Changing, 'minimumAppVersion'>,
  after: Pick<Changing, 'minimumAppVersion'>,
): string | undefined {
  const [was, is] = [before.minimumAppVersion, after.minimumAppVersion];
  if (was === null || (is !== null && compareVersions(is, was) >= 0)) return undefined;
  const to =
    is === null ? `drop the minimum version ${was}` : `lower the minimum version from ${was} to ${is}`;
  return `${to}: machines below ${was} are offered the release too`;
}

function overridingPolicies(before: Changing, after: Changing): string | undefined {
  if (after.security && !before.security)
    return 'mark as a security update, which update policies do not hold back';
  const [was, is] = [before.minimumSupportedVersion, after.minimumSupportedVersion];
  if (is !== null && (was === null || compareVersions(is, was) > 0))
    return `raise the minimum supported version to ${is}: update policies of machines below it do not hold the release back`;
  return undefined;
}

/** More failures that the guard accepts. Those of the previous release change as it is installed: the worst case counts. */
function weakeningGuard(before: Changing, after: Changing): string | undefined {
  const [was, is] = [before.acceptableFailures, after.acceptableFailures];
  const { least, most } = measuredFailures;
  if (was === is || (is ?? most) <= (was ?? least)) return undefined;
  const named = (percent: number | null) =>
    percent === null ? 'those of the previous full release' : `${percent} %`;
  return `change the acceptable failures from ${named(was)} to ${named(is)}: the guard may pause the rollout later`;
}

const reachesAll = ({ rolloutPlan }: Changing) => rolloutPlan?.at(-1)?.percentage === 100;
const planOf = ({ rolloutPlan, startsAt }: Changing) => JSON.stringify([rolloutPlan, startsAt]);

const enters = (before: Changing, after: Changing): boolean =>
  isOut(after) && (!isOut(before) || before.channel !== after.channel);

/** Whether a release is out: published, active and not in the recycle bin. */
export const isOut = (r: Pick<Changing, 'isDraft' | 'isActive' | 'deletedAt'>): boolean =>
  !r.isDraft && r.isActive && r.deletedAt === undefined;

function entering(before: Changing, after: Changing): string {
  if (before.deletedAt !== undefined) return 'restore from the recycle bin, published';
  if (before.channel !== after.channel) return `publish on ${after.channel}`;
  return before.isDraft ? 'publish' : 'activate';
}

/** The second person is told: one person may have set it while the release was in no feed. */
function setAlone({ acceptableFailures, security, minimumSupportedVersion }: Changing): string {
  return [
    acceptableFailures !== null && `, with ${acceptableFailures} % acceptable failures`,
    security && ', as a security update, which update policies do not hold back',
    minimumSupportedVersion !== null &&
      `, with the minimum supported version ${minimumSupportedVersion}: update policies of machines below it do not hold the release back`,
  ]
    .filter((text) => text !== false)
    .join('');
}

/** Fields that follow from others, or are the time of the change. */
const derived = new Set([
  'updatedAt',
  'releaseDate',
  'fullAt',
  'stepTaken',
  'stepStartedAt',
  'failuresClaimedAt',
]);

/** Every field that differs, except the derived ones. */
function changesBetween(before: object, after: object): Wanted['changes'] {
  const was = new Map<string, unknown>(Object.entries(before));
  return Object.entries(after)
    .filter(([field]) => !derived.has(field))
    .filter(([field, value]) => !isDeepStrictEqual(was.get(field), value))
    .map(([field, value]) => ({ field, from: was.get(field) ?? null, to: value ?? null }));
}
