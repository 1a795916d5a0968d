import { expect, test } from 'vitest';
import { stubBrowser } from '../../../tests/browser.ts';

stubBrowser();
const { userConsequences } = await import('./user-consequences.ts');

const two = { openSessions: 2, apiKeys: 3, openRequests: 2 };
const one = { openSessions: 1, apiKeys: 1, openRequests: 1 };
const none = { openSessions: 0, apiKeys: 0, openRequests: 0 };

const ended = [
  [two, '2 open sessions of this user end with the next call.'],
  [one, '1 open session of this user ends with the next call.'],
  [none, 'No session ends: the user is not signed in.'],
] as const;

const keys = [
  [two, '3 API keys created by this user are not affected.'],
  [one, '1 API key created by this user is not affected.'],
  [none, 'No API key that works was created by this user.'],
] as const;

test.each(['deactivate', 'delete', 'resetPassword', 'makeServiceAccount'] as const)(
  '%s says how many sessions end',
  (change) => {
    for (const [impact, sentence] of ended) expect(userConsequences[change](impact)).toContain(sentence);
  },
);

test('deactivate leaves the API keys to the user', () => {
  expect(userConsequences.deactivate(two)).toContain(
    '3 API keys created by this user continue to work unless they are revoked.',
  );
  expect(userConsequences.deactivate(one)).toContain(
    '1 API key created by this user continues to work unless it is revoked.',
  );
});

test.each(['delete', 'resetPassword', 'reactivate'] as const)(
  '%s says how many API keys continue to work',
  (change) => {
    for (const [impact, sentence] of keys) expect(userConsequences[change](impact)).toContain(sentence);
  },
);

test.each([
  ['deactivate', 'cannot be approved while the user is not active: somebody else must ask.'],
  ['delete', 'cannot be approved anymore: somebody else must ask.'],
  [
    'resetPassword',
    'can be approved again once the user has a password of their own, where that is required.',
  ],
  [
    'changeRole',
    'can be approved only if the new role has the permission, and the user a second factor where it requires one.',
  ],
  [
    'makeServiceAccount',
    'can be approved only if the new role has the permission, and the user a second factor where it requires one.',
  ],
] as const)('%s says what becomes of the changes that the user asked for', (change, becomes) => {
  const said = (impact: typeof two) => userConsequences[change](impact).join(' ');
  const sentence = `that this user asked for ${becomes}`;
  expect(said(two)).toContain(`2 changes ${sentence}`);
  expect(said(one)).toContain(`1 change ${sentence}`);
  expect(said(none)).not.toContain('approved');
});

test('another role says how many sessions get it', () => {
  expect(userConsequences.changeRole(two)).toEqual([
    '2 open sessions of this user get the new role with the next call.',
    expect.stringMatching(/^2 changes/),
  ]);
  expect(userConsequences.changeRole(none)).toEqual([
    'The user is not signed in; the new role acts from the next sign-in.',
  ]);
});
