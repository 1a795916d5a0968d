import { clock as calls } from '../../../contract/clock.ts';
import type { Context } from '../../context.ts';
import { inChange, implement } from '../../http/call.ts';
import { clockState, confirmClock } from './clock.ts';

export const clockRoutes = ({ db }: Context) =>
  implement(calls, {
    state: ({ by }) => clockState(db, by.now),
    confirm: inChange((change, { body }) => confirmClock(change, new Date(body.now))),
  });
