import { daysFrom, utcDay } from '../../../contract/durations.ts';
import type { OfferReason } from '../../../contract/machines.ts';
import { isInsidePin, type MaintenanceWindow, type UpdatePolicy } from '../../../contract/policies.ts';
import { compareVersions, type Channel } from '../../../contract/versions.ts';
import { mayRead, type Caller } from '../../caller.ts';
import type { TrashedRelease } from '../releases/index.ts';
import { isInWindow } from './windows.ts';

/** Where a field of a policy was set. */
export type PolicySource = { kind: 'customer' | 'tag'; name: string };
type Sourced<Value> = { value: Value; from: PolicySource };

/** The policy of a machine, each field from the most specific place that sets it. */
export type AppliedPolicy = {
  /** False where none of the licenses of the machine may have updates any more. */
  isLicensed: boolean;
  channel?: Sourced<Channel>;
  pin?: Sourced<string> & { forSecurity: boolean };
  deferDays?: Sourced<number>;
  windows?: Sourced<readonly MaintenanceWindow[]>;
  /** The last day with updates: 2026-11-20, UTC. */
  updatesUntil?: Sourced<string>;
};

/** Combines policies, the most specific first, field by field. The pin brings along whether it holds for security. */
export function effectivePolicy(
  levels: readonly { from: PolicySource; policy: UpdatePolicy }[],
): Omit<AppliedPolicy, 'isLicensed'> {
  const first = <Field extends keyof UpdatePolicy>(field: Field) => {
    const level = levels.find(({ policy }) => policy[field] !== null);
    return level && { value: level.policy[field] as NonNullable<UpdatePolicy[Field]>, from: level.from };
  };
  const set = { channel: first('channel'), deferDays: first('deferDays'), windows: first('windows') };
  const pinned = levels.find(({ policy }) => policy.pin !== null);
  const pin = first('pin');
  return Object.fromEntries(
    Object.entries({
      ...set,
      pin: pin && { ...pin, forSecurity: pinned?.policy.pinForSecurity ?? false },
      updatesUntil: first('updatesUntil'),
    }).filter(([, value]) => value !== undefined),
  );
}

/** The policy as the caller may know it: it names its customer only to users who may read customers. */
export function namedTo<Policy extends Omit<AppliedPolicy, 'isLicensed'>>(
  by: Caller,
  policy: Policy,
): Policy {
  if (mayRead(by, 'customers')) return policy;
  const unnamed = Object.entries(policy).map(([field, set]) => [
    field,
    typeof set === 'object' && set.from.kind === 'customer'
      ? { ...set, from: { ...set.from, name: 'its customer' } }
      : set,
  ]);
  return Object.fromEntries(unnamed) as Policy;
}

/**
 * The policy and the moment of a decision, and whether the machine proved that it belongs to the customer. `trashed` are
 * the releases in the recycle bin, which a pin may match. `deferredBy` is the moment for deferrals, the latest that the clock
 * can be: days that have not passed cannot be given back.
 */
export type Policed = {
  policy: AppliedPolicy;
  now: Date;
  deferredBy: Date;
  isProven?: boolean;
  trashed?: readonly TrashedRelease[];
};

export type PolicedRelease = {
  version: string;
  security: boolean;
  minimumSupportedVersion: string | null;
  fullAt: string | null;
};

const policyReasons = [
  'LICENSE_INACTIVE',
  'PINNED',
  'UPDATES_ENDED',
  'DEFERRED',
  'OUTSIDE_WINDOW',
] as const satisfies readonly OfferReason[];
type PolicyReason = (typeof policyReasons)[number];

/** The reason without what it says of the policy of a customer. */
export const withoutPolicy = (reason: OfferReason | undefined): OfferReason | 'POLICY' | undefined =>
  policyReasons.some((one) => one === reason) ? 'POLICY' : reason;

/**
 * One thing that the policy looked at. It holds the release back, lets it pass, does not count because the release is
 * urgent, or (a pin) does not count because it matches nothing.
 */
export type PolicyStep = { reason: PolicyReason; result: 'holds' | 'passes' | 'urgent' | 'unmatched' };

/** The end of the deferral of a release; undefined before it reached 100 %. */
export const deferredUntil = ({ fullAt }: Pick<PolicedRelease, 'fullAt'>, days: number): Date | undefined =>
  fullAt === null ? undefined : daysFrom(new Date(fullAt), days);

/** A security update, or one without which the machine is no longer supported. */
const isUrgent = (release: PolicedRelease, currentVersion: string | undefined): boolean =>
  release.security ||
  (release.minimumSupportedVersion !== null &&
    currentVersion !== undefined &&
    compareVersions(currentVersion, release.minimumSupportedVersion) < 0);

/** Whether a step that holds releases back does so for urgent ones too. */
export const isStrict = ({ reason }: PolicyStep, { policy }: Pick<Policed, 'policy'>): boolean =>
  reason === 'LICENSE_INACTIVE' || (reason === 'PINNED' && policy.pin?.forSecurity === true);

/** What the policy looks at for one release, in order; the first step that holds it back is the last. */
export function policySteps(
  release: PolicedRelease,
  { policy, now, deferredBy }: Policed,
  { currentVersion, pinMatches }: { currentVersion: string | undefined; pinMatches: boolean },
): PolicyStep[] {
  if (!policy.isLicensed) return [{ reason: 'LICENSE_INACTIVE', result: 'holds' }];
  const urgent = isUrgent(release, currentVersion);
  const { pin, updatesUntil, deferDays, windows } = policy;
  const steps: PolicyStep[] = [];
  if (pin) {
    const isInside = isInsidePin(release.version, pin.value);
    const otherwise = urgent && !pin.forSecurity ? 'urgent' : pinMatches ? 'holds' : 'unmatched';
    steps.push({ reason: 'PINNED', result: isInside ? 'passes' : otherwise });
  }
  const checks: [PolicyReason, boolean | undefined][] = [
    ['UPDATES_ENDED', updatesUntil && utcDay(now) > updatesUntil.value],
    ['DEFERRED', deferDays && deferDays.value > 0 && !isDue(release, deferDays.value, deferredBy)],
    ['OUTSIDE_WINDOW', windows && windows.value.length > 0 && !isInWindow(windows.value, now)],
  ];
  for (const [reason, holds] of checks)
    if (holds !== undefined) steps.push({ reason, result: holds ? (urgent ? 'urgent' : 'holds') : 'passes' });
  const held = steps.findIndex(({ result }) => result === 'holds');
  return held === -1 ? steps : steps.slice(0, held + 1);
}

const isDue = (release: PolicedRelease, days: number, now: Date): boolean => {
  const due = deferredUntil(release, days);
  return due !== undefined && due <= now;
};
