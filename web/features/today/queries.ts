import { queryOptions } from '@tanstack/react-query';
import { today } from '../../../contract/today.ts';
import { call } from '../../api.ts';
import { live } from '../../live.ts';

/** What needs the user's attention, and the figures of the day. */
export const todayQuery = () =>
  queryOptions({
    ...live,
    queryKey: ['today'],
    queryFn: ({ signal }) => call(today.get, {}, { signal }),
  });
