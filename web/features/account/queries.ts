import { account } from '../../../contract/account.ts';
import type { RouteRequest } from '../../../contract/route.ts';
import type { Screen } from '../../../contract/screens.ts';
import { call } from '../../api.ts';
import { queryOf } from '../../query-of.ts';

export const ownSessionsQuery = queryOf(account.sessions);

export const secondFactorQuery = queryOf(account.secondFactor);

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
