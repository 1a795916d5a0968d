import { useQuery } from '@tanstack/react-query';
import { counted } from '../../ui/counted.ts';
import { userImpactQuery } from './queries.ts';

type Change = 'deactivate' | 'reactivate' | 'delete' | 'resetPassword' | 'changeRole' | 'makeServiceAccount';
type Impact = { openSessions: number; apiKeys: number; openRequests: number };

/** What a change of a user affects, in numbers, for its confirmation. */
export function useUserConsequences(id: string, change: Change) {
  return useQuery({ ...userImpactQuery(id), select: (impact) => userConsequences[change](impact) });
}

/** Text of the confirmation of each change. */
export const userConsequences: Record<Change, (impact: Impact) => string[]> = {
  deactivate: (impact) => [
    ended(impact),
    // They can be selected below.
    keys(impact, ['continues to work unless it is revoked', 'continue to work unless they are revoked']),
    ...requests(impact, 'cannot be approved while the user is not active: somebody else must ask'),
    'The user can be reactivated.',
  ],
  reactivate: (impact) => [
    'One user can sign in again, with the previous password and role.',
    keysStay(impact),
  ],
  delete: (impact) => [
    ended(impact),
    keysStay(impact),
    ...requests(impact, 'cannot be approved anymore: somebody else must ask'),
    'One account is deleted; its audit entries stay.',
  ],
  resetPassword: (impact) => [
    ended(impact),
    keysStay(impact),
    ...requests(
      impact,
      'can be approved again once the user has a password of their own, where that is required',
    ),
  ],
  changeRole: (impact) => [
    impact.openSessions === 0
      ? 'The user is not signed in; the new role acts from the next sign-in.'
      : `${counted(impact.openSessions, 'open session')} of this user ${impact.openSessions === 1 ? 'gets' : 'get'} the new role with the next call.`,
    ...requestsOfRole(impact),
  ],
  makeServiceAccount: (impact) => [
    ended(impact),
    'The user cannot sign in to the console anymore.',
    ...requestsOfRole(impact),
  ],
};

const ended = ({ openSessions }: Impact) =>
  openSessions === 0
    ? 'No session ends: the user is not signed in.'
    : `${counted(openSessions, 'open session')} of this user ${openSessions === 1 ? 'ends' : 'end'} with the next call.`;

const keys = ({ apiKeys }: Impact, [one, many]: readonly [one: string, many: string]) =>
  apiKeys === 0
    ? 'No API key that works was created by this user.'
    : `${counted(apiKeys, 'API key')} created by this user ${apiKeys === 1 ? one : many}.`;

/** What waits for a second person is approved only for who may make it then, and approvers are told of nothing else. */
const requests = ({ openRequests }: Impact, what: string) =>
  openRequests > 0 ? [`${counted(openRequests, 'change')} that this user asked for ${what}.`] : [];

const requestsOfRole = (impact: Impact) =>
  requests(
    impact,
    'can be approved only if the new role has the permission, and the user a second factor where it requires one',
  );

const keysStay = (impact: Impact) => keys(impact, ['is not affected', 'are not affected']);
