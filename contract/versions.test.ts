import fc from 'fast-check';
import semver from 'semver';
import { describe, expect, test } from 'vitest';
import { versionText } from './builds.ts';
import { compareVersions, isVersion, nextVersion, reportedAs, type Bump } from './versions.ts';
import { channels } from './list-words.ts';

/** The lists of the specification itself (semver.org, its suggested expression). */
const valid = [
  '0.0.4',
  '1.2.3',
  '10.20.30',
  '1.1.2-prerelease+meta',
  '1.1.2+meta',
  '1.1.2+meta-valid',
  '1.0.0-alpha',
  '1.0.0-beta',
  '1.0.0-alpha.beta',
  '1.0.0-alpha.beta.1',
  '1.0.0-alpha.1',
  '1.0.0-alpha0.valid',
  '1.0.0-alpha.0valid',
  '1.0.0-alpha-a.b-c-somethinglong+build.1-aef.1-its-okay',
  '1.0.0-rc.1+build.1',
  '2.0.0-rc.1+build.123',
  '1.2.3-beta',
  '10.2.3-DEV-SNAPSHOT',
  '1.2.3-SNAPSHOT-123',
  '1.0.0',
  '2.0.0',
  '1.1.7',
  '2.0.0+build.1848',
  '2.0.1-alpha.1227',
  '1.0.0-alpha+beta',
  '1.2.3----RC-SNAPSHOT.12.9.1--.12+788',
  '1.2.3----R-S.12.9.1--.12+meta',
  '1.2.3----RC-SNAPSHOT.12.9.1--.12',
  '1.0.0+0.build.1-rc.10000aaa-kk-0.1',
  '1.0.0-0A.is.legal',
];
const invalid = [
  '1',
  '1.2',
  '1.2.3-0123',
  '1.2.3-0123.0123',
  '1.1.2+.123',
  '+invalid',
  '-invalid',
  '-invalid+invalid',
  '-invalid.01',
  'alpha',
  'alpha.beta',
  'alpha.beta.1',
  'alpha.1',
  'alpha+beta',
  'alpha_beta',
  'alpha.',
  'alpha..',
  'beta',
  '1.0.0-alpha_beta',
  '-alpha.',
  '1.0.0-alpha..',
  '1.0.0-alpha..1',
  '1.0.0-alpha...1',
  '1.0.0-alpha....1',
  '1.0.0-alpha.....1',
  '1.0.0-alpha......1',
  '1.0.0-alpha.......1',
  '01.1.1',
  '1.01.1',
  '1.1.01',
  '1.2.3.DEV',
  '1.2-SNAPSHOT',
  '1.2.31.2.3----RC-SNAPSHOT.12.09.1--..12+788',
  '1.2-RC-SNAPSHOT',
  '-1.0.3-gamma+b7718',
  '+justmeta',
  '9.8.7+meta+meta',
  '9.8.7-whatever+meta+meta',
  '99999999999999999999999.999999999999999999.99999999999999999----RC-SNAPSHOT.12.09.1--------------------------------..12',
];

const number = fc.oneof(fc.nat(3), fc.nat(999_999_998));
const identifier = fc.oneof(
  fc.nat(12).map(String),
  fc.nat().map(String),
  fc.constantFrom('alpha', 'beta', 'rc', 'RC', 'a', 'b', '-', '--', '0a', 'a0', '00a'),
  fc.stringMatching(/^[0-9A-Za-z-]{0,6}[A-Za-z-]$/),
);
const suffix = (sign: string, part: fc.Arbitrary<string>) =>
  fc.array(part, { maxLength: 4 }).map((parts) => (parts.length > 0 ? sign + parts.join('.') : ''));
const version = fc
  .tuple(
    number,
    number,
    number,
    suffix('-', identifier),
    suffix('+', fc.stringMatching(/^[0-9A-Za-z-]{1,5}$/)),
  )
  .map(([major, minor, patch, prerelease, build]) => `${major}.${minor}.${patch}${prerelease}${build}`);

describe('what a version is', () => {
  test.each(valid)('%s is one', (text) => {
    expect(isVersion(text)).toBe(true);
    expect(versionText.parse(text)).toBe(text);
  });

  test.each(invalid)('%s is none, and the message is that of the spec', (text) => {
    expect(isVersion(text)).toBe(false);
    if (text.length <= 100) {
      expect(versionText.safeParse(text).error?.issues[0]!.message).toBe(`Invalid semantic version: ${text}`);
    }
  });

  test('numbers that no longer are exact are refused, and so is what is longer than a column shows', () => {
    expect(isVersion('1.0.9007199254740991')).toBe(true);
    expect(isVersion('1.0.9007199254740992')).toBe(false);
    expect(isVersion('99999999999999999999999.999999999999999999.99999999999999999')).toBe(false);
    expect(isVersion(`1.0.0-${'a'.repeat(94)}`)).toBe(true);
    expect(isVersion(`1.0.0-${'a'.repeat(95)}`)).toBe(false);
  });

  test('none at all is told in other words, and spaces around it are forgiven', () => {
    for (const nothing of ['', '   ', undefined, null]) {
      expect(versionText.safeParse(nothing).error?.issues[0]!.message).toBe('Version is required');
    }
    expect(versionText.parse(' 1.2.3 ')).toBe('1.2.3');
    expect(versionText.safeParse('v1.2.3').success).toBe(false);
    expect(versionText.safeParse('1.2.3\n1').success).toBe(false);
  });

  test('whatever semver builds is one, and both agree on what is nearly one', () => {
    fc.assert(
      fc.property(version, (text) => {
        expect(isVersion(text)).toBe(true);
      }),
      { seed: 1, numRuns: 1000 },
    );
    const nearly = fc.stringMatching(/^[0-9a-z.+-]{1,20}$/);
    const mutated = fc
      .tuple(version, fc.nat(30), fc.constantFrom('', '.', '-', '+', '0', '_', ' ', 'é'))
      .map(([text, at, sign]) => text.slice(0, at) + sign + text.slice(at + 1));
    fc.assert(
      fc.property(fc.oneof(nearly, mutated), (text) => {
        // the library forgives spaces around a version and a leading v or =
        const strict = semver.valid(text) !== null && /^\d/.test(text) && text.trim() === text;
        expect(isVersion(text), text).toBe(strict && text.length <= 100);
      }),
      { seed: 2, numRuns: 3000 },
    );
  });
});

describe('the order of versions', () => {
  test('is that of the specification', () => {
    const order = [
      '1.0.0-alpha',
      '1.0.0-alpha.1',
      '1.0.0-alpha.beta',
      '1.0.0-beta',
      '1.0.0-beta.2',
      '1.0.0-beta.11',
      '1.0.0-rc.1',
      '1.0.0',
      '1.0.1-alpha',
      '1.9.0',
      '1.10.0',
      '1.11.0',
      '2.0.0',
    ];
    expect(order.toReversed().toSorted(compareVersions)).toEqual(order);
    expect(compareVersions('1.0.0+a', '1.0.0+b')).toBe(0);
    expect(compareVersions('1.0.0-1+a', '1.0.0-1')).toBe(0);
  });

  test('agrees with semver, which is another hand', () => {
    const near = fc
      .tuple(fc.nat(2), fc.nat(2), fc.nat(2), suffix('-', identifier))
      .map(([major, minor, patch, prerelease]) => `${major}.${minor}.${patch}${prerelease}`);
    fc.assert(
      fc.property(fc.oneof(version, near), fc.oneof(version, near), (a, b) => {
        expect(Math.sign(compareVersions(a, b))).toBe(semver.compare(a, b));
        expect(Math.sign(compareVersions(b, a)) + Math.sign(compareVersions(a, b))).toBe(0);
      }),
      { seed: 3, numRuns: 5000 },
    );
  });

  test('is equal exactly for builds of one version, which a program may report without its metadata', () => {
    const near = fc
      .tuple(
        fc.constantFrom('1.0.0', '1.0.0-a', '1.0.0-0.b', '1.0.1'),
        suffix('+', fc.constantFrom('1', 'a', '-')),
      )
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.oneof(version, near), fc.oneof(version, near), (a, b) => {
        const [[exact, plainA], [, plainB]] = [reportedAs(a), reportedAs(b)];
        expect(exact).toBe(a);
        expect(semver.parse(a)?.version).toBe(plainA);
        expect(plainA === plainB).toBe(semver.eq(a, b));
      }),
      { seed: 4, numRuns: 3000 },
    );
  });

  test('holds for identifiers beyond every number type', () => {
    expect(compareVersions('1.0.0-9007199254740993', '1.0.0-9007199254740992')).toBeGreaterThan(0);
    expect(compareVersions('1.0.0-10000000000000000000000', '1.0.0-9999999999999999999999')).toBeGreaterThan(
      0,
    );
  });

  test('refuses to compare what is no version', () => {
    expect(() => compareVersions('1.0', '1.0.0')).toThrow('Invalid semantic version: 1.0');
    expect(() => compareVersions('1.0.0', 'x')).toThrow('Invalid semantic version: x');
  });
});

describe('the suggested version', () => {
  const bumps: Bump[] = ['patch', 'minor', 'major'];

  test('begins at 1.0.0 for stable and at 0.1.0 for the others', () => {
    for (const bump of bumps) {
      expect(nextVersion([], 'stable', bump)).toBe('1.0.0');
      expect(nextVersion([], 'beta', bump)).toBe('0.1.0-beta');
      expect(nextVersion([], 'alpha', bump)).toBe('0.1.0-alpha');
    }
  });

  test.each([
    ['1.2.3', 'stable', 'patch', '1.2.4'],
    ['1.2.3', 'stable', 'minor', '1.3.0'],
    ['1.2.3', 'stable', 'major', '2.0.0'],
    ['1.2.3-beta', 'beta', 'patch', '1.2.4-beta'],
    ['1.2.3-beta', 'beta', 'minor', '1.3.0-beta'],
    ['1.2.3-beta', 'beta', 'major', '2.0.0-beta'],
    ['0.9.9-alpha.7+build.5', 'alpha', 'patch', '0.9.10-alpha'],
    ['1.2.3-rc.1', 'stable', 'patch', '1.2.4'],
    ['1.2.3+build', 'stable', 'patch', '1.2.4'],
  ] as const)('after %s on %s by %s is %s', (existing, channel, bump, next) => {
    expect(nextVersion([existing], channel, bump)).toBe(next);
  });

  test('follows the highest, not the latest in the list, and passes over what is no version', () => {
    expect(nextVersion(['1.9.0', '1.10.0', '1.2.0'], 'stable', 'patch')).toBe('1.10.1');
    expect(nextVersion(['1.9.0', 'nightly', ''], 'stable', 'minor')).toBe('1.10.0');
    expect(nextVersion(['nightly'], 'stable', 'minor')).toBe('1.0.0');
  });

  test('passes over what is in the recycle bin, and does not follow it', () => {
    const deleted = ['24.1.0', '2.4.2', '2.4.3'];
    expect(nextVersion(['2.4.1'], 'stable', 'patch', deleted)).toBe('2.4.4');
    expect(nextVersion(['2.4.1'], 'stable', 'minor', deleted)).toBe('2.5.0');
    expect(nextVersion([], 'beta', 'minor', ['0.1.0-beta'])).toBe('0.2.0-beta');
  });

  test('is a version above all others, with the lower parts at nothing', () => {
    fc.assert(
      fc.property(
        fc.array(version, { minLength: 1, maxLength: 8 }),
        fc.constantFrom(...channels),
        fc.constantFrom(...bumps),
        (existing, channel, bump) => {
          const next = nextVersion(existing, channel, bump);
          expect(semver.valid(next)).toBe(next);
          for (const other of existing) expect(semver.gt(next, other), `${next} > ${other}`).toBe(true);
          const highest = semver.parse(semver.rsort([...existing])[0])!;
          const plain = `${highest.major}.${highest.minor}.${highest.patch}`;
          const tag = channel === 'stable' ? '' : `-${channel}`;
          expect(next).toBe(semver.inc(plain, bump)! + tag);
        },
      ),
      { seed: 4, numRuns: 1000 },
    );
  });
});
