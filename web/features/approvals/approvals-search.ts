import { searchOf, wordParam } from '../../search-params.ts';

/** Search parameters of the change requests. */
export const approvalsSearch = searchOf((params) => ({
  /** Only requests that the user may approve now. */
  waiting: wordParam(params, 'waiting', ['1']),
}));
export type ApprovalsSearch = ReturnType<typeof approvalsSearch>;
