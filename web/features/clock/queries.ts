import { clock } from '../../../contract/clock.ts';
import { call } from '../../api.ts';

export const confirmClock = (now: string) => call(clock.confirm, { body: { now } });
