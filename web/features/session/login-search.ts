import { textParam } from '../../search-params.ts';

export type LoginSearch = { redirect?: string | undefined };

export const loginSearch = (params: Record<string, unknown>): LoginSearch => ({
  redirect: textParam(params, 'redirect'),
});
