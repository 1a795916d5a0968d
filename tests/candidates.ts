import type { Candidate, Question } from '../server/features/updates/decide-offer.ts';
import { machineHashOf } from '../server/machine-hash.ts';

/* Releases and machines for tests of the update decision alone, without a server. */

let made = 0;

/** A published release for Windows, fully out since October 2026. */
export const candidate = (version: string, fields: Partial<Candidate> = {}): Candidate => ({
  id: `release-${String(++made).padStart(6, '0')}`,
  version,
  channel: 'stable',
  platform: 'win32',
  architecture: 'x64',
  fileKind: 'exe',
  isDraft: false,
  wasPublished: !fields.isDraft,
  isActive: true,
  rolloutPercentage: 100,
  startsAt: null,
  rolloutSalt: `salt of ${version}`,
  minimumAppVersion: null,
  security: false,
  minimumSupportedVersion: null,
  fullAt: '2026-10-01T00:00:00.000Z',
  pausedAt: null,
  pauseReason: null,
  damagedAt: null,
  ...fields,
});

/** What a Windows machine on the stable channel asks. */
export const question = (fields: Partial<Question> = {}): Question => ({
  platform: 'win32',
  architecture: 'x64',
  fileKind: 'exe',
  channel: 'stable',
  currentVersion: '1.0.0',
  machineHash: machineHashOf('a machine'),
  ...fields,
});
