import { describe, expect, test } from 'vitest';
import { candidate } from '../../../tests/candidates.ts';
import { offersToCustomer } from './customer-offers.ts';
import type { Candidate } from './decide-offer.ts';
import type { AppliedPolicy, Policed } from './policy.ts';

const now = new Date('2026-11-22T12:00:00Z');
const under = (policy: Partial<AppliedPolicy> = {}): Policed => ({
  policy: { isLicensed: true, ...policy },
  now,
  deferredBy: now,
});
const onLinux = (fileKind: string, fields: Partial<Candidate> = {}) =>
  candidate('5.0.0', { platform: 'linux', fileKind, ...fields });
const offered = (releases: readonly Candidate[], policed = under()) =>
  offersToCustomer(releases, policed)
    .flatMap((platform) => platform.offered)
    .map((one) => [one.version, one.rolloutPercentage, one.minimumAppVersion]);

describe('of one version', () => {
  test('kinds of file with other rollouts are all listed, and those that read the same once', () => {
    const appImage = onLinux('appimage', { minimumAppVersion: '4.0.0' });
    const packages = ['deb', 'rpm'].map((kind) => onLinux(kind, { rolloutPercentage: 5 }));
    expect(offered([appImage, ...packages])).toEqual([
      ['5.0.0', 5, null],
      ['5.0.0', 100, '4.0.0'],
    ]);
  });

  test('a rollout on one channel is listed beside the full release on another', () => {
    const stable = onLinux('deb', { rolloutPercentage: 10 });
    const beta = onLinux('deb', { channel: 'beta' });
    const onBeta = under({ channel: { value: 'beta', from: { kind: 'tag', name: 'early' } } });
    expect(offered([stable, beta], onBeta)).toEqual([
      ['5.0.0', 10, null],
      ['5.0.0', 100, null],
    ]);
  });
});

test('of what a policy keeps back for one reason, the newest of all kinds of file is named', () => {
  const inside = ['appimage', 'deb'].map((kind) => onLinux(kind, { version: '4.0.0' }));
  const releases = [onLinux('deb', { version: '5.1.0' }), onLinux('appimage'), ...inside];
  const pinned = under({
    pin: { value: '4.', forSecurity: true, from: { kind: 'customer', name: 'Hospital A' } },
  });
  const [linux] = offersToCustomer(releases, pinned);
  expect(linux?.heldBack.map(({ version }) => version)).toEqual(['5.1.0']);
});
