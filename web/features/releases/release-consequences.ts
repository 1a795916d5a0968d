import { useQuery } from '@tanstack/react-query';
import { unfedReasonOf } from '../../../contract/fed-kinds.ts';
import { nextStep, type PlanState } from '../../../contract/next-step.ts';
import { isOffered } from '../../../contract/release-state.ts';
import type { releases, Release } from '../../../contract/releases.ts';
import type { RouteAnswer } from '../../../contract/route.ts';
import { besideSentences, stepsSentence } from '../../ReachConfirm.tsx';
import { counted } from '../../ui/counted.ts';
import { momentText } from '../../ui/time.ts';
import { releaseImpactQuery } from './queries.ts';

export type ReleaseChange = 'withdraw' | 'pause' | 'softDelete' | 'restore' | 'deletePermanently' | 'resume';

/** How many machines a change of a release affects, for its confirmation. */
export function useReleaseConsequences(release: Release, change: ReleaseChange) {
  return useQuery({
    ...releaseImpactQuery(release.id),
    select: (impact) => releaseConsequences[change](impact, release),
  });
}

type Impact = RouteAnswer<typeof releases.impact>;

/** Text of the confirmation of each change. */
export const releaseConsequences: Record<ReleaseChange, (impact: Impact, release: Counted) => string[]> = {
  withdraw: ({ machines }, release) => [
    keepIt(machines),
    `No machine is offered it anymore. ${offeredInstead}` + deferralsIf('made active again', release),
  ],
  pause: ({ machines }) => [keepIt(machines), 'No other machine is offered it until it is resumed.'],
  softDelete: ({ machines, pinned, newer }, release) => [
    keepIt(machines),
    noLongerOffered(release, newer),
    ...pinsEnd(pinned, 'Once it is permanently deleted'),
  ],
  deletePermanently: ({ machines, pinned }, { downloadCount }) => [
    keepIt(machines),
    downloadCount === 0
      ? 'The binary file goes with it.'
      : `${counted(downloadCount, 'recorded download')} and the binary file go with it.`,
    ...pinsEnd(pinned, 'Without it'),
  ],
  restore: (impact, release) => [
    runIt(impact.machines),
    ...offeredAgain(release, impact, deferralsOf(release)),
  ],
  resume: (impact, release) => [
    runIt(impact.machines),
    ...offeredAgain({ ...release, pausedAt: null }, impact),
  ],
};

/** A pin that matches no release counts only for machines that run a version inside it. */
const pinsEnd = (customers: number, then: string): string[] =>
  customers === 0
    ? []
    : [
        `${counted(customers, 'customer')} ${customers === 1 ? 'is' : 'are'} pinned to a version that no other release for these machines has. ${then}, the pin no longer counts for machines that run another version: they are offered newer ones.`,
      ];

const offeredInstead =
  'Machines with an older version are offered the newest other release that is rolled out to them.';

const runIt = (machines: number) =>
  machines === 0
    ? 'No machine runs this version yet.'
    : `${counted(machines, 'machine')} ${machines === 1 ? 'runs' : 'run'} this version already.`;

const keepIt = (machines: number) =>
  machines === 0
    ? 'No machine runs this version.'
    : `${counted(machines, 'machine')} ${machines === 1 ? 'runs' : 'run'} this version and ${machines === 1 ? 'keeps' : 'keep'} it.`;

type Offered = Pick<
  Release,
  | 'id'
  | 'platform'
  | 'fileName'
  | 'fileUrl'
  | 'isDraft'
  | 'isActive'
  | 'pausedAt'
  | 'damagedAt'
  | 'rolloutPercentage'
  | 'fullAt'
  | keyof PlanState
>;
type Counted = Offered & Pick<Release, 'downloadCount'>;

/** What its way back does to the deferrals of policies, which count from when a release is offered to all. */
const deferralsIf = (isBack: string, { fullAt }: Offered): string =>
  fullAt === null ? '' : ` If it is ${isBack}, deferrals begin again.`;

const noLongerOffered = (release: Offered, newer: string | null) =>
  isOffered(release) && release.damagedAt === null && !unfedReasonOf(release)
    ? (newer === null
        ? `It is no longer offered to ${release.rolloutPercentage} % of machines. ${offeredInstead}`
        : `It is no longer offered to machines that an update policy keeps from ${newer}; the others are offered that already.`) +
      deferralsIf('restored', release)
    : 'It is offered to no machine now.';

/** The percentage once it is offered again: a first step whose start has passed is taken by itself. */
export function percentageAgain(release: Offered): number {
  const next = nextStep(release);
  return next?.index === 0 && !isToCome(next.dueAt)
    ? Math.max(release.rolloutPercentage, next.percentage)
    : release.rolloutPercentage;
}

const isToCome = (at: string | null) => at !== null && Date.parse(at) > Date.now();

const deferralsOf = ({ fullAt }: Offered): string => (fullAt === null ? '' : '; deferrals begin again');

function offeredAgain(release: Offered, { newer, ...beside }: Impact, deferrals = ''): string[] {
  const none = 'It stays offered to no machine.';
  if (!isOffered(release)) return [none];
  const unfed = unfedReasonOf(release);
  if (unfed) return [`${none} ${unfed}`];
  if (release.damagedAt !== null)
    return ['Its file is damaged: it stays offered to no machine until that is right again.'];
  const rolloutPercentage = percentageAgain(release);
  return [
    rolloutPercentage === 0 && release.startsAt !== null
      ? `It is offered to no machine before ${momentText(release.startsAt)}.`
      : newer === null
        ? `It is offered again to ${rolloutPercentage} % of machines, from their next check, unless an update policy holds it back${deferrals}.`
        : `It is offered again to ${rolloutPercentage} % of the machines that an update policy keeps from ${newer}, from their next check${deferrals}. The others are offered ${newer}.`,
    ...besideSentences(beside, rolloutPercentage),
    ...stepsSentence({ ...release, rolloutPercentage }),
  ];
}
