import { queryOptions } from '@tanstack/react-query';
import { modules } from '../../../contract/modules.ts';
import { call } from '../../api.ts';

export const modulesQuery = queryOptions({
  queryKey: ['modules'],
  queryFn: ({ signal }) => call(modules.list, undefined, { signal }),
});
