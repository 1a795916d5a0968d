import { queryOptions } from '@tanstack/react-query';
import { clock } from '../../../contract/clock.ts';
import { call } from '../../api.ts';
import { every, live } from '../../live.ts';

/** Whether deletions are paused because the clock of the server jumped. */
export const clockQuery = queryOptions({
  ...live,
  refetchInterval: every,
  queryKey: ['clock'],
  queryFn: ({ signal }) => call(clock.state, {}, { signal }),
});

export const confirmClock = (now: string) => call(clock.confirm, { body: { now } });
