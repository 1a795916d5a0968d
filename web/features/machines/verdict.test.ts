import { expect, onTestFinished, test, vi } from 'vitest';
import type { Explanation } from '../../../contract/machines.ts';
import type { MachineStanding } from '../../../contract/machine-standing.ts';
import { machineStates } from '../../../contract/list-words.ts';
import { offerReasons } from '../../../contract/machines.ts';
import { rangeText, verdictOf } from './verdict.ts';

/** A Friday. */
const now = new Date(2026, 10, 20, 15, 0);
const at = (day: number, hour = 8, minute = 0) => new Date(2026, 10, day, hour, minute).toISOString();

const standing = (of: Partial<MachineStanding>): MachineStanding => ({
  displayId: 'M',
  hostname: null,
  platform: 'win32',
  architecture: 'x64',
  releaseId: null,
  version: '4.2.0',
  lastSeen: at(20),
  state: 'active',
  code: 'VALID',
  since: null,
  license: { licenseId: 'l', licenseKey: 'K', validUntil: at(30), maxActivations: 3, currentActivations: 3 },
  seat: { activationId: 'a', since: at(1), lastCheckedAt: at(20) },
  offlineUntil: null,
  customer: null,
  ...of,
});
const offer = (
  version: string,
  reason: Explanation['reason'],
  of: Partial<Explanation> = {},
): Explanation => ({
  releaseId: version,
  version,
  channel: 'stable',
  fileKind: 'exe',
  offered: reason === 'OFFERED',
  reason,
  detail: '',
  policy: [],
  bucket: 19.12,
  rolloutPercentage: 5,
  ...of,
});
const current = [offer('4.2.0', 'NOT_NEWER')];
const held = [offer('4.2.1', 'ROLLOUT_BUCKET'), ...current];

test.each<[string, Partial<MachineStanding>, Explanation[] | undefined, string]>([
  ['nothing newer', {}, current, 'good: Runs 4.2.0; no newer release is for it | Its license is valid'],
  [
    'held back',
    {},
    held,
    'good: Runs 4.2.0; not offered 4.2.1: bucket 19.12, rollout 5 % | Its license is valid',
  ],
  [
    'offered',
    {},
    [offer('4.2.1', 'OFFERED'), ...current],
    'good: Runs 4.2.0; offered 4.2.1 | Its license is valid',
  ],
  [
    'offered an older one',
    {},
    [offer('4.2.2', 'PAUSED'), offer('4.2.1', 'OFFERED')],
    'good: Runs 4.2.0; offered 4.2.1; not offered 4.2.2: rollout paused | Its license is valid',
  ],
  [
    'no release of its channel',
    {},
    [offer('5.0.0', 'CHANNEL'), offer('4.9.0', 'DRAFT'), ...current],
    'good: Runs 4.2.0; no newer release is for it | Its license is valid',
  ],
  [
    'a rollout set back to nobody',
    {},
    [offer('4.2.1', 'NOT_STARTED', { rolloutPercentage: 0 }), ...current],
    'good: Runs 4.2.0; not offered 4.2.1: rollout at 0 % | Its license is valid',
  ],
  [
    'a feed that is not told the version offers it',
    {},
    [offer('4.2.0', 'OFFERED')],
    'good: Runs 4.2.0; no newer release is for it | Its license is valid',
  ],
  [
    'a feed that is not told the version offers it beside a newer one',
    {},
    [offer('4.2.1', 'PAUSED'), offer('4.2.0', 'OFFERED')],
    'good: Runs 4.2.0; not offered 4.2.1: rollout paused | Its license is valid',
  ],
  [
    'a feed that is not told the version offers an older one, as an updater with a channel takes it',
    {},
    [offer('4.1.0', 'OFFERED'), offer('4.0.0', 'ROLLOUT_BUCKET')],
    'good: Runs 4.2.0; offered 4.1.0 | Its license is valid',
  ],
  [
    'a version in the words of its program',
    { version: 'nightly' },
    [offer('4.2.1', 'OFFERED')],
    'good: Runs nightly; offered 4.2.1 | Its license is valid',
  ],
  ['an unknown version', { version: null }, [], 'good: Runs an unknown version | Its license is valid'],
  ['offers still load', {}, undefined, 'good: Its license is valid | null'],
  [
    'seats full',
    { state: 'refused', code: 'TOO_MANY_ACTIVATIONS', since: at(17), seat: null },
    held,
    'bad: Refused since Tuesday: seats full (3 of 3) | Runs 4.2.0; not offered 4.2.1: bucket 19.12, rollout 5 %',
  ],
  [
    'revoked today',
    { state: 'refused', code: 'REVOKED', since: at(20, 9, 30) },
    current,
    'bad: Refused since today, 09:30: license revoked | Runs 4.2.0; no newer release is for it',
  ],
  [
    'revoked today, with a license file',
    { state: 'refused', code: 'REVOKED', since: at(20, 9, 30), offlineUntil: at(27) },
    undefined,
    'bad: Refused since today, 09:30: license revoked; may run without a network until 27 Nov 2026 | null',
  ],
  [
    'revoked, with a license file that has ended',
    { state: 'refused', code: 'REVOKED', offlineUntil: at(19) },
    undefined,
    'bad: Refused: license revoked | null',
  ],
  [
    'expired long ago',
    { state: 'refused', code: 'EXPIRED', since: at(2) },
    undefined,
    'bad: Refused since 2 Nov 2026: license expired | null',
  ],
  [
    'not yet valid',
    { state: 'refused', code: 'NOT_YET_VALID' },
    undefined,
    'bad: Refused: license not valid yet | null',
  ],
  [
    'deactivated',
    { state: 'refused', code: 'MACHINE_DEACTIVATED', since: at(14), seat: null },
    undefined,
    'bad: Refused since Saturday: deactivated by staff | null',
  ],
  [
    'deactivated by force',
    { state: 'refused', code: 'MACHINE_DEACTIVATED', since: at(20, 9, 30), seat: null, offlineUntil: at(27) },
    undefined,
    'bad: Refused since today, 09:30: deactivated by staff; may run without a network until 27 Nov 2026 | null',
  ],
  [
    'a customer in the trash, a week ago',
    { state: 'refused', code: 'CUSTOMER_INACTIVE', since: at(13) },
    undefined,
    'bad: Refused since 13 Nov 2026: customer not active | null',
  ],
  [
    'a clone',
    { state: 'clone' },
    current,
    'warning: Two machines use its seat at once | Runs 4.2.0; no newer release is for it',
  ],
  [
    'offline',
    { state: 'offline', offlineUntil: at(27) },
    current,
    'good: Runs 4.2.0; no newer release is for it | Runs without a network until 27 Nov 2026',
  ],
  [
    'no seat',
    { state: 'no_seat', seat: null },
    undefined,
    'good: Holds no seat, and gets one when it next validates | null',
  ],
  [
    'no seat, and none is free',
    { state: 'no_seat', code: 'TOO_MANY_ACTIVATIONS', seat: null },
    current,
    'warning: Holds no seat, and all are taken (3 of 3) | Runs 4.2.0; no newer release is for it',
  ],
  [
    'no license',
    { state: 'no_seat', license: null, seat: null, code: null },
    current,
    'good: Runs 4.2.0; no newer release is for it | Holds no seat on any license',
  ],
  [
    'licenses may not be read',
    { state: null, code: null, license: null, seat: null },
    current,
    'good: Runs 4.2.0; no newer release is for it | null',
  ],
])('%s', (_, facts, offers, expected) => {
  const { tone, sentence, further } = verdictOf(standing(facts), offers, now);
  expect(`${tone}: ${sentence} | ${further}`).toBe(expected);
});

test('a machine that has not asked since the end of its license is refused since that day of UTC', () => {
  vi.stubEnv('TZ', 'America/New_York');
  onTestFinished(() => void vi.unstubAllEnvs());
  const validUntil = '2026-11-19T00:00:00.000Z';
  const license = { ...standing({}).license!, validUntil };
  const refused = standing({ state: 'refused', code: 'EXPIRED', since: validUntil, license });
  expect(verdictOf(refused, undefined, now).sentence).toBe('Refused since 19 Nov 2026: license expired');
});

test('every state and every reason gives a sentence', () => {
  for (const state of [...machineStates, null])
    for (const reason of offerReasons) {
      const { sentence } = verdictOf(standing({ state }), [offer('9.0.0', reason)], now);
      expect(sentence).not.toMatch(/undefined|null|[A-Z]{3,}/);
    }
});

test.each([
  [at(16), at(20, 17, 12), 'Mon 08:00 – Fri 17:12'],
  [at(20), at(20), 'Fri 08:00'],
  [at(2), at(20), '2 Nov 2026, 08:00 – 20 Nov 2026, 08:00'],
])('from %s to %s is %s', (from, to, text) => expect(rangeText(from, to, now)).toBe(text));
