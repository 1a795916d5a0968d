import type { ChainState } from '../../../contract/audit.ts';
import { architectureNames, platformNames } from '../../../contract/builds.ts';
import type { Release } from '../../../contract/releases.ts';
import { maySee } from '../../../contract/permissions.ts';
import type { RouteAnswer } from '../../../contract/route.ts';
import {
  figureNeeds,
  figures,
  todayKinds,
  todayNeeds,
  type TodayKind,
} from '../../../contract/today-needs.ts';
import { todayLimits, type today as calls, type DayFigure, type TodayLine } from '../../../contract/today.ts';
import { personOf, type Caller } from '../../caller.ts';
import { clockJump } from '../../checked-time.ts';
import type { Context } from '../../context.ts';
import { createCache } from '../../db/cache.ts';
import type { Topic } from '../../db/signals.ts';
import type { StorageWatch } from '../../storage/watch.ts';
import { figuresOf } from '../analytics/index.ts';
import { apiKeysForToday } from '../api-keys/index.ts';
import { listRequests } from '../approvals/index.ts';
import { signInsForToday } from '../audit/index.ts';
import { licensesForToday } from '../licenses/index.ts';
import { trashForToday, releasesNeedingAttention } from '../releases/index.ts';
import { createRoomCheck } from './disk-room.ts';

export type TodayParts = Pick<Context, 'db' | 'signals' | 'config'> & {
  audit: { state(): ChainState };
  storageWatch: Pick<StorageWatch, 'isUsable' | 'whyForeign'>;
};

type Line = Pick<TodayLine, 'count'> & Partial<Omit<TodayLine, 'kind' | 'count'>>;
type Lines = Partial<Record<TodayKind, Line>>;
/** One question, which answers some kinds of lines. */
type Question = { kinds: readonly TodayKind[]; ask: (by: Caller) => Promise<Lines> };

/** How long an answer is shared by all callers. */
const sharedMs = 5000;

/**
 * What needs the caller's attention. Each question is asked only if the caller may see one of its lines, and its answer
 * is shared for some seconds by all who may: permissions decide what is read from it, and are not part of it.
 */
export function createToday(parts: TodayParts) {
  const questions = questionsOf(parts);
  const ofDay = createCache<DayFigure[]>(parts.signals, 'licenses', { max: 2, ttlMs: sharedMs });
  return async function today(by: Caller): Promise<RouteAnswer<typeof calls.get>> {
    const held = personOf(by).permissions;
    const visible = todayKinds.filter((kind) => maySee(todayNeeds[kind], held));
    const asked = questions.filter(({ kinds }) => kinds.some((kind) => visible.includes(kind)));
    const [found, counted] = await Promise.all([
      Promise.all(asked.map(({ ask }) => ask(by))),
      ofDay('now', () => figuresOf(parts.db, figures, by.now)),
    ]);
    const lines: Lines = Object.assign({}, ...found);
    return {
      checkedAt: by.now.toISOString(),
      lines: visible.flatMap((kind) => {
        const line = lines[kind];
        return line && line.count > 0 ? [{ kind, next: null, since: null, usual: null, ...line }] : [];
      }),
      figures: counted.filter(({ figure }) => maySee(figureNeeds[figure], held)),
    };
  };
}

function questionsOf(parts: TodayParts): Question[] {
  const { db, signals, config, audit, storageWatch } = parts;
  const lackingRoom = createRoomCheck(config);
  /** A question whose answer is the same for everyone, and is dropped when the topic changes. */
  const shared = (
    topic: Topic,
    kinds: readonly TodayKind[],
    ask: (now: Date) => Promise<Lines>,
  ): Question => {
    const cached = createCache<Lines>(signals, topic, { max: 2, ttlMs: sharedMs });
    return { kinds, ask: ({ now }) => cached('now', () => ask(now)) };
  };
  return [
    shared('licenses', ['licensesEnding', 'licensesEnded', 'licensesFull', 'offlineEnding'], async (now) => {
      const { ending, ended, full, offline } = await licensesForToday(db, now);
      return { licensesEnding: ending, licensesEnded: ended, licensesFull: full, offlineEnding: offline };
    }),
    shared(
      'releases',
      [
        'releasesDamaged',
        'rolloutsFailing',
        'rolloutsClaimed',
        'rolloutsPaused',
        'rolloutsReady',
        'trashEnding',
      ],
      async (now) => {
        const [{ damaged, failing, claimed, paused, ready }, trashEnding] = await Promise.all([
          releasesNeedingAttention(db, now),
          trashForToday(db, now, todayLimits.trashEndingDays),
        ]);
        return {
          releasesDamaged: lineOf(damaged, ({ damagedAt }) => damagedAt),
          rolloutsFailing: lineOf(failing, ({ pausedAt }) => pausedAt),
          rolloutsClaimed: lineOf(claimed, ({ failuresClaimedAt }) => failuresClaimedAt),
          rolloutsPaused: lineOf(paused, ({ pausedAt }) => pausedAt),
          rolloutsReady: lineOf(ready, () => null),
          trashEnding,
        };
      },
    ),
    shared('apiKeys', ['keysEnding', 'keysRefused', 'keysLimited'], async (now) => {
      const { ending, refused, limited } = await apiKeysForToday(db, now);
      return { keysEnding: ending, keysRefused: refused, keysLimited: limited };
    }),
    shared('sessions', ['signInsRefused'], async (now) => ({
      signInsRefused: await signInsForToday(db, now),
    })),
    {
      kinds: ['approvalsWaiting'],
      ask: async (by) => {
        const waiting = await listRequests(parts, by, { waiting: true });
        const next = waiting.at(-1);
        return {
          approvalsWaiting: {
            count: waiting.length,
            next: next ? { id: next.id, name: `${next.subject}: ${next.what}`, at: next.expiresAt } : null,
          },
        };
      },
    },
    { kinds: ['chainBroken', 'chainNotKept'], ask: async () => chainLines(audit.state()) },
    {
      kinds: ['storageDown'],
      ask: async (by) => {
        const count = Number(!(await storageWatch.isUsable()));
        // what to do is for those who look after the disks
        const why = maySee(todayNeeds.diskFull, personOf(by).permissions)
          ? storageWatch.whyForeign()
          : undefined;
        return { storageDown: { count, next: why === undefined ? null : { id: '', name: why, at: null } } };
      },
    },
    {
      kinds: ['clockJumped'],
      ask: async ({ now }) => ({ clockJumped: { count: Number((await clockJump(db, now)) !== undefined) } }),
    },
    {
      kinds: ['diskFull'],
      ask: async () => {
        const room = await lackingRoom();
        return room ? { diskFull: { count: room.usedPercent, usual: room.bytesLeft } } : {};
      },
    },
  ];
}

function lineOf(found: readonly Release[], at: (release: Release) => string | null): Line {
  const [first] = found;
  return {
    count: found.length,
    next: first ? { id: first.id, name: buildName(first), at: at(first) } : null,
  };
}

const buildName = ({ version, platform, architecture }: Release) =>
  `${version} for ${platformNames[platform]} ${architectureNames[architecture]}`;

function chainLines({ state, broken, kept }: ChainState): Lines {
  const unkept = kept.filter(({ error }) => error !== null);
  const [first] = unkept;
  return {
    chainBroken: {
      count: Number(state === 'broken'),
      next: broken ? { id: broken.audit_id ?? '', name: broken.problem, at: null } : null,
    },
    chainNotKept: {
      count: unkept.length,
      next: first ? { id: '', name: first.place, at: first.at } : null,
    },
  };
}
