import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareVersions } from '../../../contract/versions.ts';
import { channels } from '../../../contract/list-words.ts';
import { machineHashOf } from '../../machine-hash.ts';
import { candidate as release, question as ask } from '../../../tests/candidates.ts';
import { hiddenBy } from '../releases/index.ts';
import { decideOffer, type Candidate, type Question } from './decide-offer.ts';
import { explainEach, type KnownMachine } from './explain.ts';
import { rolloutBucket } from './bucket.ts';

/** A machine whose bucket for that salt is in the range. */
function machineWith(salt: string, within: (bucket: number) => boolean): string {
  for (let n = 0; ; n++)
    if (within(rolloutBucket(salt, machineHashOf(`machine ${n}`)))) return machineHashOf(`machine ${n}`);
}

const offered = (releases: Candidate[], question: Partial<Question> = {}) =>
  decideOffer(releases, ask(question)).release?.version;

describe('the newest release that a machine may take', () => {
  const older = release('1.1.0');
  const newest = release('1.2.0');

  test('is offered, whatever the order of the set', () => {
    expect(offered([older, newest])).toBe('1.2.0');
    expect(offered([newest, older])).toBe('1.2.0');
  });

  test.each([
    ['inactive', { isActive: false }, 'INACTIVE'],
    ['in the bin', { deletedAt: '2026-11-01T00:00:00Z' }, 'DELETED'],
    ['paused', { pausedAt: '2026-11-01T00:00:00Z' }, 'PAUSED'],
    ['asking for a newer machine', { minimumAppVersion: '1.0.1' }, 'MINIMUM_VERSION'],
    ['not rolled out', { rolloutPercentage: 0 }, 'NOT_STARTED'],
  ] as const)('is not one that is %s', (_, fields, reason) => {
    const decision = decideOffer([older, release('1.2.0', fields)], ask());
    expect(decision).toEqual({ release: older, reason });
  });

  test('is no draft, of which no machine is told', () => {
    const draft = release('1.2.0', { isDraft: true });
    expect(decideOffer([older, draft], ask())).toEqual({ release: older, reason: 'OFFERED' });
    expect(decideOffer([draft], ask())).toEqual({ release: undefined, reason: undefined });
  });

  test.each(['1.0.0', '1.1.0'])('speaks of its own channel: a newer beta is no reason for %s', (runs) => {
    const beta = release('1.2.0', { channel: 'beta' });
    const alphaDraft = release('1.3.0', { channel: 'alpha', isDraft: true });
    expect(decideOffer([older, beta, alphaDraft], ask({ currentVersion: runs }))).toEqual(
      runs === '1.0.0' ? { release: older, reason: 'OFFERED' } : { release: undefined, reason: 'NOT_NEWER' },
    );
    expect(decideOffer([beta], ask())).toEqual({ release: undefined, reason: 'CHANNEL' });
    expect(decideOffer([], ask())).toEqual({ release: undefined, reason: undefined });
  });

  test.each([
    ['platform', { platform: 'darwin' }],
    ['architecture', { architecture: 'arm64' }],
    ['kind of file', { fileKind: 'nupkg' }],
  ] as const)('is for its %s', (_, fields) => {
    expect(offered([older, release('1.2.0', fields)])).toBe('1.1.0');
  });

  test('is never older than or the same as what it runs', () => {
    expect(offered([older, newest], { currentVersion: '1.2.0' })).toBeUndefined();
    expect(offered([older, newest], { currentVersion: '1.2.0+build.7' })).toBeUndefined();
    expect(offered([older, newest], { currentVersion: '1.3.0' })).toBeUndefined();
    expect(offered([older, newest], { currentVersion: '1.2.0-beta.1' })).toBe('1.2.0');
    expect(offered([], {})).toBeUndefined();
  });

  test('is the newest of all where the version is not known, minimum version or not', () => {
    expect(
      offered([older, release('1.2.0', { minimumAppVersion: '1.1.0' })], { currentVersion: undefined }),
    ).toBe('1.2.0');
  });
});

test('a rollout that has not started keeps no machine from an older one', () => {
  const older = release('1.2.0', { rolloutPercentage: 60, rolloutSalt: 'older' });
  const waiting = release('1.3.0', { rolloutPercentage: 0, startsAt: '2026-12-01T06:00:00.000Z' });
  const machineHash = machineWith('older', (bucket) => bucket < 60);
  expect(decideOffer([older, waiting], ask({ machineHash }))).toEqual({
    release: older,
    reason: 'NOT_STARTED',
  });
  const outside = machineWith('older', (bucket) => bucket >= 60);
  expect(decideOffer([older, waiting], ask({ machineHash: outside })).release).toBeUndefined();
});

describe('channels', () => {
  const set = [
    release('1.1.0'),
    release('1.2.0-beta.1', { channel: 'beta' }),
    release('1.3.0-alpha.1', { channel: 'alpha' }),
  ];
  test('stable is in beta, and beta is in alpha', () => {
    expect(channels.map((channel) => offered(set, { channel }))).toEqual([
      '1.1.0',
      '1.2.0-beta.1',
      '1.3.0-alpha.1',
    ]);
  });
  test('a beta machine gets a newer stable', () => {
    const withStable = [...set, release('1.2.0')];
    expect(offered(withStable, { channel: 'beta', currentVersion: '1.2.0-beta.1' })).toBe('1.2.0');
  });
  test('of two builds of one version the one made last is offered, and the other where its rollout has not come', () => {
    const [first, second] = [release('1.2.0+1'), release('1.2.0+2', { rolloutPercentage: 0 })];
    const later = release('1.2.0+2');
    expect(offered([first, later])).toBe('1.2.0+2');
    expect(offered([later, first])).toBe('1.2.0+2');
    expect(offered([first, second])).toBe('1.2.0+1');
    expect(offered([first, second], { currentVersion: '1.2.0+1' })).toBeUndefined();
  });

  test('the same version on two channels comes from the wider one', () => {
    const [beta, stable] = [release('2.0.0', { channel: 'beta' }), release('2.0.0')];
    expect(decideOffer([beta, stable], ask({ channel: 'alpha' })).release).toBe(stable);
  });
});

describe('a rollout', () => {
  const full = release('1.1.0');
  const partial = release('1.2.0', { rolloutPercentage: 40 });
  const newest = release('1.3.0', { rolloutPercentage: 5 });

  test('offers to the machines inside, and the newest full release to the others', () => {
    const inside = machineWith(newest.rolloutSalt, (bucket) => bucket < 5);
    const outside = machineWith(newest.rolloutSalt, (bucket) => bucket >= 5);
    expect(offered([full, newest], { machineHash: inside })).toBe('1.3.0');
    expect(offered([full, newest], { machineHash: outside })).toBe('1.1.0');
  });

  test('is for the buckets below its percentage: the one that equals it is out', () => {
    const at = (machineHash: string) => (rolloutPercentage: number) =>
      offered([release('1.2.0', { rolloutPercentage, rolloutSalt: 'edge' })], { machineHash });
    const equal = at(machineWith('edge', (bucket) => bucket === 5));
    expect([4, 5, 6].map(equal)).toEqual([undefined, undefined, '1.2.0']);
    const justBelow = at(machineWith('edge', (bucket) => bucket === 4.99));
    expect([4, 5].map(justBelow)).toEqual([undefined, '1.2.0']);
    const lowest = at(machineWith('edge', (bucket) => bucket === 0));
    expect([0, 1].map(lowest)).toEqual([undefined, '1.2.0']);
    const highest = at(machineWith('edge', (bucket) => bucket === 99.99));
    expect([99, 100].map(highest)).toEqual([undefined, '1.2.0']);
  });

  test('outside of the newest, a machine is not offered another that is under way', () => {
    const machineHash = machineWith(newest.rolloutSalt, (bucket) => bucket >= 5);
    const insideOfPartial = [release('1.2.0', { rolloutPercentage: 99, rolloutSalt: 'x' }), full, newest];
    expect(rolloutBucket('x', machineHash)).toBeLessThan(99);
    expect(offered(insideOfPartial, { machineHash })).toBe('1.1.0');
  });

  test('an anonymous machine is in none', () => {
    expect(offered([full, partial, newest], { machineHash: undefined })).toBe('1.1.0');
    expect(offered([full, release('1.2.0', { rolloutPercentage: 99 })], { machineHash: undefined })).toBe(
      '1.1.0',
    );
  });

  test('that is paused offers nothing new to those inside, and the next release to all', () => {
    const paused = release('1.3.0', { rolloutPercentage: 100, pausedAt: '2026-11-01T00:00:00Z' });
    expect(offered([full, paused])).toBe('1.1.0');
    expect(offered([full, paused], { currentVersion: '1.3.0' })).toBeUndefined();
  });

  test('spreads its machines evenly: about N % of 100,000 are inside, for any salt', () => {
    const population = Array.from({ length: 100_000 }, (_, n) => machineHashOf(`desktop-${n}`));
    for (const salt of ['a', 'another', 'f00d']) {
      const buckets = population.map((machine) => rolloutBucket(salt, machine));
      expect(Math.min(...buckets.slice(0, 50_000))).toBeGreaterThanOrEqual(0);
      expect(Math.max(...buckets.slice(0, 50_000))).toBeLessThan(100);
      for (const percentage of [1, 5, 25, 50, 90]) {
        const inside = buckets.filter((bucket) => bucket < percentage).length / 1000;
        // five standard deviations of a fair draw
        const tolerance = 5 * Math.sqrt((percentage / 100) * (1 - percentage / 100) * 100_000);
        expect(Math.abs(inside - percentage) * 1000).toBeLessThan(tolerance);
      }
    }
  });
});

const versions = fc
  .tuple(fc.nat(3), fc.nat(3), fc.constantFrom('', '-beta.1', '-alpha.2'))
  .map(([minor, patch, tag]) => `1.${minor}.${patch}${tag}`);
const candidate = fc.record({
  version: versions,
  channel: fc.constantFrom(...channels),
  fileKind: fc.constantFrom('exe', 'nupkg'),
  isDraft: fc.boolean(),
  isActive: fc.boolean(),
  rolloutPercentage: fc.constantFrom(0, 5, 50, 100),
  rolloutSalt: fc.string(),
  minimumAppVersion: fc.option(versions),
  pausedAt: fc.option(fc.constant('2026-11-01T00:00:00Z'), { freq: 5 }),
});
const sets = fc.array(candidate, { maxLength: 12 }).map((all) => all.map((c) => release(c.version, c)));
const questions = fc.record({
  channel: fc.constantFrom(...channels),
  fileKind: fc.constantFrom('exe', 'nupkg'),
  currentVersion: fc.option(versions, { nil: undefined }),
  machineHash: fc.option(fc.string().map(machineHashOf), { nil: undefined }),
});

describe('for any releases and any machine', () => {
  test('raising a percentage only adds machines', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.nat(100), fc.nat(100), (salt, machine, a, b) => {
        const [low, high] = [Math.min(a, b), Math.max(a, b)];
        const at = (rolloutPercentage: number) =>
          offered([release('2.0.0', { rolloutSalt: salt, rolloutPercentage })], {
            machineHash: machineHashOf(machine),
          });
        expect(at(low) === undefined || at(high) !== undefined).toBe(true);
        expect(at(100)).toBe('2.0.0');
        expect(at(0)).toBeUndefined();
      }),
    );
  });

  test('the same machine gets the same answer, and an allowed one', () => {
    fc.assert(
      fc.property(sets, questions, (set, fields) => {
        const question = ask(fields);
        const { release: chosen } = decideOffer(set, question);
        expect(decideOffer(set.toReversed(), question).release).toBe(chosen);
        if (!chosen) return;
        expect(chosen.isDraft || !chosen.isActive || chosen.pausedAt !== null).toBe(false);
        expect(channels.indexOf(chosen.channel)).toBeLessThanOrEqual(channels.indexOf(question.channel));
        expect(chosen.fileKind).toBe(question.fileKind);
        if (question.currentVersion) {
          expect(compareVersions(chosen.version, question.currentVersion)).toBeGreaterThan(0);
        }
        if (question.machineHash === undefined) expect(chosen.rolloutPercentage).toBe(100);
      }),
    );
  });

  test('none is offered that a newer rollout hides, unless the machine is below the minimum version of that one', () => {
    fc.assert(
      fc.property(sets, questions, (all, fields) => {
        const set = all.map((one) => ({ ...one, minimumAppVersion: null }));
        const { release: chosen } = decideOffer(set, ask(fields));
        expect(chosen && hiddenBy(set, chosen.id)).toBeUndefined();
      }),
    );
  });

  test('there is no gap: where a full release may be had, something at least as new is offered', () => {
    fc.assert(
      fc.property(sets, questions, (set, fields) => {
        const question = ask(fields);
        const full = decideOffer(
          set.filter((r) => r.rolloutPercentage === 100),
          question,
        ).release;
        if (!full) return;
        const chosen = decideOffer(set, question).release;
        expect(chosen && compareVersions(chosen.version, full.version)).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  test('the explanation says what the decision does', () => {
    fc.assert(
      fc.property(sets, questions, (set, fields) => {
        const question = ask(fields);
        const explained = explainEach(set, machineFor(question));
        expect(explained).toHaveLength(set.length);
        const mine = explained.filter(
          (e) => e.offered && set.find((r) => r.id === e.releaseId)!.fileKind === question.fileKind,
        );
        const withMachine = { ...question, machineHash: question.machineHash ?? machineHashOf('nameless') };
        expect(mine.map((e) => e.releaseId)).toEqual(
          [decideOffer(set, withMachine).release?.id].filter((id) => id !== undefined),
        );
      }),
    );
  });
});

function machineFor(question: Question): KnownMachine {
  return {
    machineHash: question.machineHash ?? machineHashOf('nameless'),
    platform: question.platform,
    architecture: question.architecture,
    channel: question.channel,
    currentVersion: question.currentVersion ?? null,
  };
}

describe('the explanation', () => {
  const machineHash = machineWith('salt of 2.0.0', (bucket) => bucket >= 41 && bucket < 42);
  const bucket = rolloutBucket('salt of 2.0.0', machineHash);
  const machine: KnownMachine = {
    machineHash,
    platform: 'win32',
    architecture: 'x64',
    channel: 'stable',
    currentVersion: '1.0.0',
  };
  const explain = (...set: Candidate[]) =>
    explainEach(set, machine).map(({ version, reason, detail }) => [version, reason, detail]);

  test('says each reason with its numbers', () => {
    expect(
      explain(
        release('3.0.0', { isDraft: true }),
        release('2.9.0', { isActive: false }),
        release('2.8.0', { deletedAt: '2026-11-01T00:00:00Z' }),
        release('2.7.0', { channel: 'beta' }),
        release('2.6.0', { minimumAppVersion: '1.5.0' }),
        release('2.5.0', { pausedAt: '2026-11-01T00:00:00Z', pauseReason: '6 of 52 installs failed.' }),
        release('2.2.0', { rolloutPercentage: 0, startsAt: '2026-12-01T06:00:00.000Z' }),
        release('2.1.0', { rolloutPercentage: 0 }),
        release('2.0.0', { rolloutPercentage: 5 }),
        release('1.9.0', { rolloutPercentage: 100 }),
        release('1.8.0'),
        release('1.0.0'),
        release('0.9.0'),
        release('0.8.0', { platform: 'linux', fileKind: 'appimage' }),
        release('0.7.0', { fileKind: 'dmg' }),
      ),
    ).toEqual([
      ['3.0.0', 'DRAFT', 'It is a draft: no feed offers it before it is published.'],
      ['2.9.0', 'INACTIVE', 'It is inactive: no feed offers it.'],
      ['2.8.0', 'DELETED', 'It is in the recycle bin: no feed offers it.'],
      ['2.7.0', 'CHANNEL', 'It is on the channel beta; the machine is on stable.'],
      ['2.6.0', 'MINIMUM_VERSION', 'It needs at least 1.5.0; the machine runs 1.0.0.'],
      [
        '2.5.0',
        'PAUSED',
        'Its rollout is paused: 6 of 52 installs failed. No machine is offered it until it is resumed.',
      ],
      [
        '2.2.0',
        'NOT_STARTED',
        'Its rollout has not started; its start is set to 2026-12-01 06:00 UTC. Until it begins, no machine is offered it.',
      ],
      [
        '2.1.0',
        'NOT_STARTED',
        'Its rollout is at 0 %: no machine is offered it, and it does not affect other releases.',
      ],
      [
        '2.0.0',
        'ROLLOUT_BUCKET',
        `The machine's bucket ${bucket.toFixed(2)} is not below its rollout of 5 %.`,
      ],
      [
        '1.9.0',
        'OFFERED',
        'It is the newest release for this machine, which runs 1.0.0, and it is fully out.',
      ],
      ['1.8.0', 'NEWER_RELEASE_OFFERED', 'The machine is offered 1.9.0 (stable) instead.'],
      ['1.0.0', 'NOT_NEWER', 'The machine runs 1.0.0 already.'],
      ['0.9.0', 'NOT_NEWER', 'The machine runs 1.0.0, which is newer.'],
      ['0.8.0', 'OTHER_PLATFORM', 'It is for linux x64; the machine is win32 x64.'],
      ['0.7.0', 'NO_FEED', 'No updater of this platform takes a .dmg file.'],
    ]);
  });

  test('says which rollout includes the machine', () => {
    expect(explain(release('2.0.0', { rolloutPercentage: 60 }))).toEqual([
      [
        '2.0.0',
        'OFFERED',
        `It is the newest release for this machine, which runs 1.0.0, and the machine's bucket ${bucket.toFixed(2)} is below its rollout of 60 %.`,
      ],
    ]);
  });

  test('says that a full release comes before a second rollout', () => {
    const [first] = explain(
      release('2.0.0', { rolloutPercentage: 5 }),
      release('1.9.0', { rolloutPercentage: 60, rolloutSalt: 'salt of 2.0.0' }),
      release('1.8.0'),
    ).slice(1);
    expect(first).toEqual([
      '1.9.0',
      'FULL_RELEASE_OFFERED_INSTEAD',
      `The machine's bucket ${bucket.toFixed(2)} is below 60 %, but a newer release is rolling out without it, and machines outside of a rollout get only what is fully out: 1.8.0.`,
    ]);
  });
});
