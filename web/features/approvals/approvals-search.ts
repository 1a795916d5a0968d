/** Search parameters of the change requests. */
export type ApprovalsSearch = {
  /** Only requests that the user may approve now. */
  waiting?: '1' | undefined;
};

export const approvalsSearch = (params: Record<string, unknown>): ApprovalsSearch => ({
  waiting: params['waiting'] === '1' ? '1' : undefined,
});
