import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { systemCaller, type Actor, type Caller } from '../../caller.ts';
import { refuseOffer } from './publishing.ts';

/** The rule itself: routes that ask for less some day must still meet it. */

const by = (actor: Actor): Caller => ({ ...systemCaller(new Date()), actor });
/** Who may create releases, and no more. */
const uploader = by({
  kind: 'staff',
  userId: randomUUID(),
  sessionId: randomUUID(),
  via: 'bearer',
  email: 'e',
  name: 'n',
  roles: [],
  permissions: [{ resource: 'releases', action: 'create' }],
  secondFactorMissing: false,
  ownPasswordMissing: false,
  advice: [],
  firstScreen: null,
});
const key = (scope: 'updates' | 'releases'): Caller =>
  by({ kind: 'apiKey', apiKeyId: 'k', name: 'n', scopes: [scope] });

const offer = {
  isDraft: false,
  isActive: true,
  pausedAt: null,
  channel: 'stable' as const,
  rolloutPercentage: 5,
  minimumAppVersion: null,
  security: false,
  minimumSupportedVersion: null,
  isMandatory: false,
  acceptableFailures: null,
  rolloutPlan: null,
  startsAt: null,
};

test('an API key without the scope releases publishes nothing', () => {
  const draft = { ...offer, isDraft: true };
  expect(refuseOffer(key('updates'), draft, offer)).toMatchObject({ failure: 'FORBIDDEN' });
  expect(refuseOffer(key('releases'), draft, offer)).toBeUndefined();
});

test('going on after a pause is publishing, pausing is not', () => {
  const paused = { ...offer, pausedAt: new Date().toISOString() };
  expect(refuseOffer(uploader, paused, offer)).toMatchObject({ failure: 'FORBIDDEN' });
  expect(refuseOffer(uploader, offer, paused)).toBeUndefined();
  expect(refuseOffer(uploader, paused, paused)).toBeUndefined();
});
