import { queryOptions } from '@tanstack/react-query';
import { account } from '../../../contract/account.ts';
import type { RouteRequest } from '../../../contract/route.ts';
import type { Screen } from '../../../contract/screens.ts';
import { call } from '../../api.ts';

export const ownSessionsQuery = queryOptions({
  queryKey: ['account', 'sessions'],
  queryFn: ({ signal }) => call(account.sessions, undefined, { signal }),
});

export const secondFactorQuery = queryOptions({
  queryKey: ['account', 'second factor'],
  queryFn: ({ signal }) => call(account.secondFactor, undefined, { signal }),
});

type Passwords = RouteRequest<typeof account.changePassword>['body'];

export const changePassword = (body: Passwords) => call(account.changePassword, { body });
export const setFirstScreen = (screen: Screen | null) => call(account.setFirstScreen, { body: { screen } });
export const endSession = (sessionId: string) => call(account.endSession, { params: { sessionId } });
export const endOtherSessions = () => call(account.endOtherSessions);
export const enrollSecondFactor = (currentPassword: string) =>
  call(account.enrollSecondFactor, { body: { currentPassword } });
export const confirmSecondFactor = (code: string) => call(account.confirmSecondFactor, { body: { code } });
export const removeSecondFactor = (currentPassword: string) =>
  call(account.removeSecondFactor, { body: { currentPassword } });
