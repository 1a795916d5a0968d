import { oneOf, searchOf, textParam } from '../../search-params.ts';

/** Search parameters of the change requests. */
export const approvalsSearch = searchOf((params) => ({
  /** Only requests that the user may approve now. */
  waiting: oneOf(['1'], textParam(params, 'waiting')),
}));
export type ApprovalsSearch = ReturnType<typeof approvalsSearch>;
