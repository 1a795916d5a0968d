import { today } from '../../../contract/today.ts';
import { live } from '../../live.ts';
import { queryOf } from '../../query-of.ts';

/** What needs the user's attention, and the figures of the day. */
export const todayQuery = () => queryOf(today.get, {}, live);
