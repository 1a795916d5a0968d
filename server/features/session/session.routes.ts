import { session as calls } from '../../../contract/session.ts';
import { personOf } from '../../caller.ts';
import { isFailure } from '../../failure.ts';
import { implement } from '../../http/call.ts';
import { me } from './session-row.ts';
import type { Sessions } from './session.ts';

export const sessionRoutes = (sessions: Sessions) =>
  implement(calls, {
    login: async ({ by, body, cookie, device }) => {
      const result = await sessions.login(by, body, { session: cookie.value, device: device.value });
      if (isFailure(result)) return result;
      cookie.set(result.cookie);
      device.set(result.device);
      return result.answer;
    },
    logout: async ({ by, cookie }) => {
      await sessions.logout(by);
      cookie.clear();
      return undefined;
    },
    refresh: async ({ by, cookie }) => {
      const result = await sessions.refresh(by, cookie.value);
      if (isFailure(result)) {
        cookie.clear();
        return result;
      }
      if (result.cookie) cookie.set(result.cookie);
      return result.answer;
    },
    me: async ({ by }) => me(personOf(by)),
  });
