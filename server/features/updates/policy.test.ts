import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  isInsidePin,
  noPolicy,
  updatePolicy,
  weekdays,
  type UpdatePolicy,
} from '../../../contract/policies.ts';
import { compareVersions } from '../../../contract/versions.ts';
import { channels } from '../../../contract/list-words.ts';
import { candidate as release, question as asked } from '../../../tests/candidates.ts';
import { decideOffer, type Candidate, type Question } from './decide-offer.ts';
import { explainEach } from './explain.ts';
import { effectivePolicy, type AppliedPolicy } from './policy.ts';

const now = new Date('2026-11-20T09:30:00Z'); // a Friday, 10:30 in Berlin
const hospital = { kind: 'customer', name: 'Hospital' } as const;
const slow = { kind: 'tag', name: 'slow' } as const;

const applied = (policy: Partial<UpdatePolicy>): AppliedPolicy => ({
  isLicensed: true,
  ...effectivePolicy([{ from: hospital, policy: { ...noPolicy, ...policy } }]),
});

const ask = (fields: Partial<Question> = {}) => asked({ currentVersion: '4.1.0', ...fields });

/** `4.2.1 OFFERED`: what a machine on 4.1.0 gets under that policy, and the reason of the newest release. */
function decided(policy: Partial<UpdatePolicy>, releases: Candidate[], fields: Partial<Question> = {}) {
  const decision = decideOffer(
    releases,
    ask({ policed: { policy: applied(policy), now, deferredBy: now }, ...fields }),
  );
  return `${decision.release?.version ?? 'nothing'} ${decision.reason}`;
}

const atNight = [{ zone: 'Europe/Berlin', weekdays: [...weekdays], from: '22:00', to: '05:00' }];
const byDay = [{ zone: 'Europe/Berlin', weekdays: [...weekdays], from: '08:00', to: '17:00' }];

describe('a pin', () => {
  const set = [release('4.2.1'), release('4.20.0'), release('5.0.0')];

  test('compares whole parts of a version', () => {
    expect(decided({ pin: '4.2.' }, set)).toBe('4.2.1 PINNED');
    expect(decided({ pin: '4.' }, set)).toBe('4.20.0 PINNED');
    expect(decided({ pin: '4.2.1' }, set)).toBe('4.2.1 PINNED');
    expect(isInsidePin('40.0.0', '4.')).toBe(false);
    expect(isInsidePin('4.20.1', '4.2.')).toBe(false);
    expect(isInsidePin('4.2.1+7', '4.2.1')).toBe(true);
  });

  test('never downgrades, and keeps a machine beyond it where it is', () => {
    expect(decided({ pin: '4.2.' }, set, { currentVersion: '4.20.0' })).toBe('nothing PINNED');
  });

  test('is passed by a security update, unless it holds for those too', () => {
    const fix = [...set, release('5.0.1', { security: true })];
    expect(decided({ pin: '4.2.' }, fix)).toBe('5.0.1 OFFERED');
    expect(decided({ pin: '4.2.', pinForSecurity: true }, fix)).toBe('4.2.1 PINNED');
    const least = [...set, release('5.0.1', { minimumSupportedVersion: '4.1.1' })];
    expect(decided({ pin: '4.2.' }, least)).toBe('5.0.1 OFFERED');
    expect(decided({ pin: '4.2.', pinForSecurity: true }, least)).toBe('4.2.1 PINNED');
    expect(decided({ pin: '4.2.' }, least, { currentVersion: '4.2.0' })).toBe('4.2.1 PINNED');
  });

  test('that matches no published release holds back no machine', () => {
    expect(decided({ pin: '9.' }, set)).toBe('5.0.0 OFFERED');
    expect(decided({ pin: '9.', pinForSecurity: true }, set)).toBe('5.0.0 OFFERED');
    expect(decided({ pin: '9.' }, [...set, release('9.0.0', { isDraft: true })])).toBe('5.0.0 OFFERED');
  });

  test('keeps a machine that runs a matching version, also after that release is gone', () => {
    expect(decided({ pin: '4.1.' }, set)).toBe('nothing PINNED');
  });

  test('still counts where the release it matches is in the bin', () => {
    const { deletedAt: _, ...trashed } = release('4.2.1');
    const live = [release('5.0.0')];
    const decide = (one: typeof trashed) =>
      decideOffer(
        live,
        ask({ policed: { policy: applied({ pin: '4.2.' }), now, deferredBy: now, trashed: [one] } }),
      ).reason;
    expect(decide(trashed)).toBe('PINNED');
    expect(decide({ ...trashed, wasPublished: false })).toBe('OFFERED');
    expect(decide({ ...trashed, channel: 'beta' })).toBe('PINNED');
    expect(decide({ ...trashed, platform: 'darwin' })).toBe('OFFERED');
  });

  test.each([
    ['withdrawn', { isActive: false }],
    ['paused', { pausedAt: '2026-11-19T00:00:00Z' }],
    ['made a draft again', { isDraft: true, wasPublished: true }],
    ['moved to another channel', { channel: 'beta' as const }],
  ])('still counts where the release it matches was %s', (_, fields) => {
    expect(decided({ pin: '4.2.' }, [release('4.2.1', fields), release('5.0.0')])).toBe('nothing PINNED');
  });
});

describe('a deferral', () => {
  const full = (fullAt: string | null, fields: Partial<Candidate> = {}) => [
    release('4.1.5'),
    release('4.2.0', { fullAt, ...fields }),
  ];

  test('is counted from the moment at which the release was fully out', () => {
    expect(decided({ deferDays: 7 }, full('2026-11-13T09:30:00.000Z'))).toBe('4.2.0 OFFERED');
    expect(decided({ deferDays: 7 }, full('2026-11-13T09:30:00.001Z'))).toBe('4.1.5 DEFERRED');
    expect(decided({ deferDays: 0 }, full('2026-11-20T09:29:00.000Z'))).toBe('4.2.0 OFFERED');
    expect(decided({ deferDays: 0 }, full(null))).toBe('4.2.0 OFFERED');
    expect(decided({ deferDays: 1 }, full(null, { rolloutPercentage: 99 }))).toBe('4.1.5 DEFERRED');
  });

  test('is passed by a security update', () => {
    expect(decided({ deferDays: 7 }, full('2026-11-20T00:00:00.000Z', { security: true }))).toBe(
      '4.2.0 OFFERED',
    );
  });
});

test('updates end with the last day', () => {
  const set = [release('4.2.0')];
  expect(decided({ updatesUntil: '2026-11-20' }, set)).toBe('4.2.0 OFFERED');
  expect(decided({ updatesUntil: '2026-11-19' }, set)).toBe('nothing UPDATES_ENDED');
  expect(decided({ updatesUntil: '2026-11-19' }, [release('4.2.0', { security: true })])).toBe(
    '4.2.0 OFFERED',
  );
});

test('outside of its windows a machine waits, except for what is urgent', () => {
  const set = [release('4.2.0')];
  expect(decided({ windows: atNight }, set)).toBe('nothing OUTSIDE_WINDOW');
  expect(decided({ windows: byDay }, set)).toBe('4.2.0 OFFERED');
  expect(decided({ windows: [] }, set)).toBe('4.2.0 OFFERED');
  expect(decided({ windows: atNight }, [release('4.2.0', { security: true })])).toBe('4.2.0 OFFERED');
  expect(decided({ windows: atNight }, [release('4.2.0', { minimumSupportedVersion: '4.2.0' })])).toBe(
    '4.2.0 OFFERED',
  );
});

test('the channel of the policy counts in place of the one asked for', () => {
  const set = [release('4.2.0'), release('4.3.0-beta.1', { channel: 'beta' })];
  expect(decided({ channel: 'beta' }, set)).toBe('4.3.0-beta.1 OFFERED');
  expect(decided({ channel: 'stable' }, set, { channel: 'alpha' })).toBe('4.2.0 OFFERED');
});

test('a machine without a license that may have updates gets none, not even for security', () => {
  const policed = { policy: { ...applied({}), isLicensed: false }, now, deferredBy: now };
  const set = [release('4.2.0', { security: true })];
  expect(decideOffer(set, ask({ policed }))).toEqual({ release: undefined, reason: 'LICENSE_INACTIVE' });
});

describe('the most specific policy', () => {
  test('wins field by field; the pin brings its own rule for security', () => {
    const policy = effectivePolicy([
      { from: hospital, policy: { ...noPolicy, pin: '4.2.', windows: [] } },
      {
        from: slow,
        policy: { ...noPolicy, pin: '4.', pinForSecurity: true, deferDays: 14, windows: atNight },
      },
    ]);
    expect(policy).toEqual({
      pin: { value: '4.2.', from: hospital, forSecurity: false },
      windows: { value: [], from: hospital },
      deferDays: { value: 14, from: slow },
    });
  });

  test('does not depend on the order of the fields', () => {
    fc.assert(
      fc.property(policies, policies, fc.infiniteStream(fc.nat()), (own, tag, order) => {
        const shuffled = (policy: UpdatePolicy) =>
          Object.fromEntries(
            Object.entries(policy)
              .map((entry): [number, typeof entry] => [order.next().value!, entry])
              .toSorted(([a], [b]) => a - b)
              .map(([, entry]) => entry),
          ) as UpdatePolicy;
        const levels = (change: (policy: UpdatePolicy) => UpdatePolicy) =>
          effectivePolicy([
            { from: hospital, policy: change(own) },
            { from: slow, policy: change(tag) },
          ]);
        expect(levels(shuffled)).toEqual(levels((policy) => policy));
      }),
    );
  });
});

const versions = fc
  .tuple(fc.nat(4), fc.nat(3), fc.constantFrom('', '-beta.1'))
  .map(([minor, patch, tag]) => `4.${minor}.${patch}${tag}`);
const policies: fc.Arbitrary<UpdatePolicy> = fc.record({
  channel: fc.option(fc.constantFrom(...channels)),
  pin: fc.option(fc.oneof(fc.constantFrom('4.', '4.2.', '4.1.', '9.'), versions)),
  pinForSecurity: fc.boolean(),
  deferDays: fc.option(fc.constantFrom(0, 1, 30)),
  windows: fc.option(fc.constantFrom([], atNight, byDay)),
  updatesUntil: fc.option(fc.constantFrom('2026-11-19', '2026-11-20')),
});
const sets = fc
  .array(
    fc.record({
      version: versions,
      channel: fc.constantFrom(...channels),
      isDraft: fc.boolean(),
      isActive: fc.boolean(),
      rolloutPercentage: fc.constantFrom(0, 50, 100),
      rolloutSalt: fc.string(),
      security: fc.boolean(),
      minimumSupportedVersion: fc.option(versions),
      fullAt: fc.constantFrom('2026-01-01T00:00:00.000Z', '2026-11-20T00:00:00.000Z'),
    }),
    { maxLength: 10 },
  )
  .map((all) =>
    all.map((c) => release(c.version, { ...c, fullAt: c.rolloutPercentage === 100 ? c.fullAt : null })),
  );
const questions = fc.record({
  channel: fc.constantFrom(...channels),
  currentVersion: fc.option(versions, { nil: undefined }),
});

describe('for any policy, releases and machine', () => {
  test('no policy, and one that decides nothing, is the decision without it', () => {
    fc.assert(
      fc.property(sets, questions, (set, fields) => {
        const bare = decideOffer(set, ask(fields));
        expect(decideOffer(set, ask({ ...fields, policed: undefined }))).toEqual(bare);
        expect(
          decideOffer(set, ask({ ...fields, policed: { policy: applied({}), now, deferredBy: now } })),
        ).toEqual(bare);
      }),
    );
  });

  test('what is offered is out, no older than what the machine has, and allowed by the policy or urgent', () => {
    fc.assert(
      fc.property(sets, questions, policies, (set, fields, policy) => {
        const { release: chosen } = decideOffer(
          set,
          ask({ ...fields, policed: { policy: applied(policy), now, deferredBy: now } }),
        );
        if (!chosen) return;
        expect(chosen.isDraft || !chosen.isActive).toBe(false);
        if (fields.currentVersion)
          expect(compareVersions(chosen.version, fields.currentVersion)).toBeGreaterThan(0);
        const { minimumSupportedVersion: least } = chosen;
        const urgent =
          chosen.security ||
          (least !== null &&
            fields.currentVersion !== undefined &&
            compareVersions(fields.currentVersion, least) < 0);
        if (!urgent) {
          expect(policy.windows).not.toBe(atNight);
          expect(policy.updatesUntil).not.toBe('2026-11-19');
          if (policy.deferDays) expect(chosen.fullAt).toBe('2026-01-01T00:00:00.000Z');
        }
        const held = policy.pin !== null && !isInsidePin(chosen.version, policy.pin);
        if (held && !(urgent && !policy.pinForSecurity)) {
          const pin = policy.pin!;
          const channel = policy.channel ?? fields.channel;
          const matches = set.filter(
            (r) =>
              !r.isDraft &&
              isInsidePin(r.version, pin) &&
              channels.indexOf(r.channel) <= channels.indexOf(channel),
          );
          expect(matches).toEqual([]);
        }
      }),
    );
  });

  test('the explanation says what the decision does', () => {
    fc.assert(
      fc.property(sets, questions, policies, (set, fields, policy) => {
        const policed = { policy: applied(policy), now, deferredBy: now };
        const question = ask({ ...fields, policed });
        const explained = explainEach(set, {
          machineHash: question.machineHash!,
          platform: 'win32',
          architecture: 'x64',
          channel: question.channel,
          currentVersion: question.currentVersion ?? null,
          policed,
        });
        const offered = explained.filter((e) => e.offered).map((e) => e.releaseId);
        const decision = decideOffer(set, question).release;
        expect(offered).toEqual(decision ? [decision.id] : []);
      }),
    );
  });

  test('the contract takes them', () => {
    fc.assert(fc.property(policies, (policy) => void updatePolicy.parse(policy)));
  });
});

test('the explanation says each thing that the policy looked at, in that order', () => {
  const policed = {
    policy: {
      isLicensed: true,
      ...effectivePolicy([
        { from: hospital, policy: { ...noPolicy, pin: '4.2.', updatesUntil: '2026-12-31' } },
        { from: slow, policy: { ...noPolicy, deferDays: 7, windows: atNight } },
      ]),
    },
    now,
    deferredBy: now,
  };
  const explained = explainEach(
    [
      release('5.0.0'),
      release('4.2.3', { security: true, fullAt: '2026-11-19T00:00:00.000Z' }),
      release('4.2.2', { fullAt: '2026-11-19T00:00:00.000Z' }),
      release('4.2.1'),
    ],
    { ...ask(), currentVersion: '4.1.0', machineHash: ask().machineHash!, policed },
  );
  expect(explained.map(({ version, reason, policy }) => [version, reason, policy])).toEqual([
    ['5.0.0', 'PINNED', ['The policy of Hospital pins it to 4.2.; this release is outside.']],
    [
      '4.2.3',
      'OFFERED',
      [
        'The policy of Hospital pins it to 4.2., which this release matches.',
        'The policy of Hospital gives it updates until 2026-12-31.',
        'The policy of the tag slow defers releases by 7 days after they are fully out, but this is a security update.',
        'The policy of the tag slow allows updates every day 22:00 to 05:00 (Europe/Berlin), but this is a security update.',
      ],
    ],
    [
      '4.2.2',
      'DEFERRED',
      [
        'The policy of Hospital pins it to 4.2., which this release matches.',
        'The policy of Hospital gives it updates until 2026-12-31.',
        'The policy of the tag slow defers releases by 7 days after they are fully out: this one until 2026-11-26 00:00 UTC.',
      ],
    ],
    [
      '4.2.1',
      'OUTSIDE_WINDOW',
      [
        'The policy of Hospital pins it to 4.2., which this release matches.',
        'The policy of Hospital gives it updates until 2026-12-31.',
        'The policy of the tag slow defers releases by 7 days after they are fully out: this one until 2026-10-08 00:00 UTC.',
        'The policy of the tag slow allows updates every day 22:00 to 05:00 (Europe/Berlin); at 2026-11-20 09:30 UTC that is closed.',
      ],
    ],
  ]);
});

test('the explanation of a deferral of no days says that there is none, also of a release that is rolling out', () => {
  const policed = { policy: applied({ deferDays: 0 }), now, deferredBy: now };
  const { machineHash } = ask();
  const rolling = release('4.2.0', { fullAt: null, rolloutPercentage: 99 });
  const [explained] = explainEach([rolling], {
    ...ask(),
    currentVersion: '4.1.0',
    machineHash: machineHash!,
    policed,
  });
  expect(explained!.policy).toEqual(['The policy of Hospital does not defer releases.']);
});
