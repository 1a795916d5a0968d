import { describe, expect, test } from 'vitest';
import { createRandom } from '../../../tools/demo/random.ts';
import {
  barOf,
  evidence,
  exceeds,
  highestShare,
  evaluateGuard,
  silences,
  type Bar,
  type Seen,
} from './guard.ts';

/* Simulated rollouts. Every install is a look: the evidence grows only with a failure, so each failure is checked. */

const randomOf = (seed: number) => createRandom(seed).next;

/** Machines until the next hit, of which `share` are hits. */
const gap = (random: () => number, share: number): number =>
  Math.floor(Math.log(1 - random()) / Math.log(1 - share)) + 1;

/** After how many machines a rollout to `machines` is paused; undefined if it never is. */
function pausedAfter(random: () => number, share: number, bar: Bar, machines: number): number | undefined {
  let of = 0;
  for (let hits = 1; ; hits++) {
    of += gap(random, share);
    if (of > machines) return undefined;
    if (exceeds({ hits, of }, bar)) return of;
  }
}

function failedOf(random: () => number, share: number, machines: number): number {
  let at = 0;
  for (let failed = 0; ; failed++) {
    at += gap(random, share);
    if (at > machines) return failed;
  }
}

const rollouts = 2000;

type Simulated = { share: number; machines: number; before?: { share: number; installs: number } };

/** The results of that many rollouts; the previous release is drawn again for each, or 2 % are given. */
function simulate({ share, machines, before }: Simulated) {
  const random = randomOf(20_261_122);
  const results = Array.from({ length: rollouts }, () => {
    const previous = before && {
      version: '1.0.0',
      installs: before.installs,
      failed: failedOf(random, before.share, before.installs),
    };
    return pausedAfter(random, share, barOf(previous ? null : 2, previous ?? null), machines);
  });
  const paused = results.filter((after) => after !== undefined).toSorted((a, b) => a - b);
  return { pausedShare: paused.length / rollouts, median: paused[rollouts / 2] ?? Infinity };
}

describe.each([10, 1000, 100_000])('a rollout to %i machines', (machines) => {
  test.each([
    ['that fails as often as staff accept', { share: 0.02 }],
    ['as the previous one, known from 50 installs', { share: 0.02, before: { share: 0.02, installs: 50 } }],
    ['as the previous one, known from 200', { share: 0.02, before: { share: 0.02, installs: 200 } }],
    ['as the previous one, known from 10,000', { share: 0.02, before: { share: 0.02, installs: 10_000 } }],
    ['less often than the floor', { share: 0.004, before: { share: 0.001, installs: 10_000 } }],
  ])('of a healthy release, %s, is paused in at most 1 %% of rollouts', (_, simulated) => {
    expect(simulate({ ...simulated, machines }).pausedShare).toBeLessThanOrEqual(0.01);
  });

  test.each([
    ['staff accept 2 %', undefined],
    ['the previous one failed on 2 % of 50 machines', { share: 0.02, installs: 50 }],
    ['the previous one failed on 2 % of 10,000 machines', { share: 0.02, installs: 10_000 }],
  ])('finds 15 and 30 %% failures, where %s', (_, before) => {
    const [bad, worse] = [0.15, 0.3].map((share) => simulate({ share, machines, ...(before && { before }) }));
    if (machines === 10) {
      // too few to be sure of 15 %; 30 % are found in every second to sixth rollout, and what always fails always
      expect(worse!.pausedShare).toBeGreaterThan(0.15);
      expect(simulate({ share: 0.999_999, machines, ...(before && { before }) })).toMatchObject({
        pausedShare: 1,
      });
      return;
    }
    expect(bad!.median).toBeLessThanOrEqual(100);
    expect(worse!.median).toBeLessThanOrEqual(20);
    expect([bad!.pausedShare, worse!.pausedShare]).toEqual([1, 1]);
  });
});

describe('the evidence', () => {
  const random = randomOf(7);
  const cases = Array.from({ length: 500 }, () => {
    const of = 1 + Math.floor(random() * 5000);
    return { of, hits: Math.floor(random() * of), acceptable: 0.001 + random() * 0.499 };
  });

  test('grows with each failure, and shrinks with each success', () => {
    for (const { of, hits, acceptable } of cases) {
      const now = evidence({ hits, of }, acceptable);
      expect(evidence({ hits: hits + 1, of }, acceptable)).toBeGreaterThanOrEqual(now);
      expect(evidence({ hits, of: of + 1 }, acceptable)).toBeLessThanOrEqual(now);
      expect(evidence({ hits, of: 100_000_000 }, acceptable)).toBeGreaterThanOrEqual(0);
    }
  });

  test('is 1 on average where the share is acceptable, and less where it is lower: what keeps the 1 %', () => {
    const mean = (of: number, share: number, acceptable: number): number => {
      let [sum, chance] = [0, (1 - share) ** of];
      for (let hits = 0; hits <= of; hits++) {
        sum += chance * evidence({ hits, of }, acceptable);
        chance *= ((of - hits) / (hits + 1)) * (share / (1 - share));
      }
      return sum;
    };
    for (const acceptable of [0.005, 0.02, 0.05, 0.3]) {
      expect(mean(60, acceptable, acceptable)).toBeCloseTo(1, 6);
      expect(mean(60, acceptable * 0.7, acceptable)).toBeLessThan(1);
    }
  });
});

describe('a release on which every install fails is found', () => {
  const all = { hits: 1000, of: 1000 };

  test.each([0.1, 1, 10, 34, 40, 49, 50])('where staff accept %d %%', (given) => {
    expect(exceeds(all, barOf(given, null))).toBe(true);
  });

  test.each([120, 200])('after one that failed on %i of 200 machines', (failed) => {
    expect(exceeds(all, barOf(null, { version: '1.0.0', installs: 200, failed }))).toBe(true);
  });
});

test('the highest share of a count is exceeded by too few machines at most as often as it says', () => {
  const random = randomOf(3);
  for (const installs of [10, 100, 1000]) {
    let wrong = 0;
    for (let n = 0; n < rollouts; n++)
      wrong += Number(highestShare({ hits: failedOf(random, 0.05, installs), of: installs }, 0.01) < 0.05);
    expect(wrong / rollouts).toBeLessThanOrEqual(0.01);
  }
  expect(highestShare({ hits: 0, of: 0 }, 0.01)).toBe(1);
  expect(highestShare({ hits: 10, of: 10 }, 0.01)).toBe(1);
});

describe('machines that fall silent', () => {
  type Fleet = { machines: number; harm: number };
  const hour = 1;
  const day = 24 * hour;

  /** When a machine is heard of: most on working days, some all the time, some every few days. */
  function contactsOf(random: () => number, until: number): number[] {
    const kind = random();
    const contacts: number[] = [];
    if (kind < 0.6) {
      const opens = 7 + 2 * random();
      for (let at = 0; at < until; at += day) {
        if ((at / day) % 7 >= 5 || random() > 0.9) continue;
        contacts.push(at + opens + 0.3 * random());
        if (random() < 0.3) contacts.push(at + opens + 4 + random());
      }
    } else {
      const every = kind < 0.8 ? () => 3.5 + random() : () => day * (1 + 4 * random());
      for (let at = every(); at < until; at += every()) contacts.push(at);
    }
    return contacts;
  }

  const steps = [
    { at: 0, percentage: 5 },
    { at: 2 * day, percentage: 25 },
    { at: 4 * day, percentage: 50 },
  ];

  /** Whether a rollout that begins on a Friday morning is paused, looked at every few hours for two weeks. */
  function isPaused(random: () => number, { machines, harm }: Fleet): boolean {
    const lookEvery = 5;
    const start = 25 * day + 9;
    const until = start + 14 * day;
    const fleet = Array.from({ length: machines }, () => {
      const all = contactsOf(random, until);
      const bucket = random() * 100;
      const reached = steps.find(({ percentage }) => bucket < percentage);
      const took = reached && all.find((at) => at >= start + reached.at);
      const dies = took !== undefined && random() < harm ? took + random() * day : until;
      // without the release, a machine has its chance in the same way
      const place = random();
      return { contacts: all.filter((at) => at <= dies), took, place };
    });
    for (let now = start + lookEvery; now < until; now += lookEvery) {
      const full = steps.findLast(({ at }) => start + at <= now)!.percentage;
      const seen = { taken: 0, silent: 0, others: 0, othersSilent: 0 };
      for (const { contacts, took, place } of fleet) {
        const checks = contacts.findIndex((at) => at >= now);
        const heard = contacts.slice(0, checks < 0 ? undefined : checks);
        if (heard.length < 3) continue;
        const usual = Math.max(1, (heard.at(-1)! - heard[0]!) / heard.length);
        const hasIt = took !== undefined && took < now;
        const offered = start + steps.find(({ percentage }) => place * full < percentage)!.at;
        const chance = hasIt ? took : heard.find((at) => at >= offered);
        if (chance === undefined || chance >= now - 2 * usual) continue;
        const isSilent = heard.at(-1)! < now - 2 * usual;
        seen[hasIt ? 'taken' : 'others'] += 1;
        if (isSilent) seen[hasIt ? 'silent' : 'othersSilent'] += 1;
      }
      if (silences(seen)) return true;
    }
    return false;
  }

  const pausedOf = (fleet: Fleet, times: number): number => {
    const random = randomOf(1945);
    return Array.from({ length: times }, () => isPaused(random, fleet)).filter(Boolean).length;
  };

  test('are found where 5 % do, with 1,000 machines; 30 % with 200', () => {
    expect(pausedOf({ machines: 1000, harm: 0.05 }, 10)).toBeGreaterThanOrEqual(9);
    expect(pausedOf({ machines: 200, harm: 0.3 }, 10)).toBeGreaterThanOrEqual(9);
  });

  test('pause no harmless rollout, over nights and weekends', () => {
    expect(pausedOf({ machines: 300, harm: 0 }, 60)).toBe(0);
    expect(pausedOf({ machines: 10, harm: 0 }, 500)).toBe(0);
  });

  test.each([10, 1000, 100_000])(
    'of %i: chance alone pauses at most 1 %% of rollouts, at any look',
    (machines) => {
      const random = randomOf(machines);
      let paused = 0;
      for (let n = 0; n < rollouts; n++) {
        // each silent machine is one with the release or one without it; each is a look
        let [silent, othersSilent] = [0, 0];
        const half = machines / 2;
        while (silent + othersSilent < machines * 0.02) {
          if (random() < 0.5) silent += 1;
          else othersSilent += 1;
          if (!silences({ taken: half, silent, others: half, othersSilent })) continue;
          paused += 1;
          break;
        }
      }
      expect(paused / rollouts).toBeLessThanOrEqual(0.01);
    },
  );

  test('on a Sunday are all, with and without the release', () => {
    expect(silences({ taken: 500, silent: 500, others: 500, othersSilent: 500 })).toBe(false);
    expect(silences({ taken: 500, silent: 480, others: 500, othersSilent: 470 })).toBe(false);
  });

  test('say nothing where there are no others, or one machine', () => {
    expect(silences({ taken: 500, silent: 500, others: 0, othersSilent: 0 })).toBe(false);
    expect(silences({ taken: 1, silent: 1, others: 1000, othersSilent: 0 })).toBe(false);
  });
});

describe('what staff read', () => {
  const release = {
    version: '4.2.1',
    platform: 'win32',
    architecture: 'x64',
    acceptableFailures: null,
  } as const;
  const read = (seen: Partial<Seen>) => {
    const none = { installs: 0, failed: 0, provenOnly: false, claimed: { installs: 0, failed: 0 } };
    const { verdict, sentence } = evaluateGuard({
      at: new Date(),
      release,
      installs: none,
      previous: null,
      silence: null,
      ...seen,
    });
    return `${verdict}: ${sentence}`;
  };
  const claimed = { installs: 0, failed: 0 };
  const installs = { installs: 1204, failed: 181, provenOnly: false, claimed };

  test.each<[string, Partial<Seen>]>([
    [
      'QUIET: No install of 4.2.1 for Windows (x64) has been reported yet. 5 % are acceptable until a previous release shows how many fail.',
      {},
    ],
    [
      'FAILING: 181 of 1,204 installs of 4.2.1 for Windows (x64) failed (15.0 %). 2.5 % are acceptable.',
      { installs, release: { ...release, acceptableFailures: 2.5 } },
    ],
    [
      'FAILING: 181 of 1,204 installs of 4.2.1 for Windows (x64) failed (15.0 %). Of 4.2.0, the previous full release, 21 of 1,000 failed (2.1 %).',
      { installs, previous: { version: '4.2.0', installs: 1000, failed: 21 } },
    ],
    [
      'QUIET: 2 of 40 installs of 4.2.1 for Windows (x64) on machines with a token failed (5.0 %). Of 4.2.0, the previous full release, 0 of 10 failed, too few installs to compare with: 5 % are acceptable.',
      {
        installs: { installs: 40, failed: 2, provenOnly: true, claimed: { installs: 9, failed: 1 } },
        previous: { version: '4.2.0', installs: 10, failed: 0 },
      },
    ],
    [
      'CLAIMED: 0 of 1 installs of 4.2.1 for Windows (x64) on machines with a token failed (0.0 %). 2.5 % are acceptable. Of 60 installs that other machines reported, 59 failed (98.3 %). These reports are not verified: they do not pause the rollout, but no further step starts automatically.',
      {
        installs: { installs: 1, failed: 0, provenOnly: true, claimed: { installs: 60, failed: 59 } },
        release: { ...release, acceptableFailures: 2.5 },
      },
    ],
    [
      'QUIET: 2 of 40 installs of 4.2.1 for Windows (x64) failed (5.0 %). No install of 4.2.0, the previous full release, was reported: 5 % are acceptable.',
      {
        installs: { installs: 40, failed: 2, provenOnly: false, claimed },
        previous: { version: '4.2.0', installs: 0, failed: 0 },
      },
    ],
    [
      'SILENT: 31 of 600 machines that took 4.2.1 for Windows (x64) have not been heard of for twice their usual interval (5.2 %). Of 2,000 machines without it, 8 are silent (0.4 %).',
      { silence: { taken: 600, silent: 31, others: 2000, othersSilent: 8 } },
    ],
  ])('%s', (sentence, seen) => expect(read(seen)).toBe(sentence));
});
