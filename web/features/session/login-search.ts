export type LoginSearch = { redirect?: string | undefined };

/** `redirect` stays whole, however long: an address that is cut off leads elsewhere. `safeRedirect` judges it. */
export const loginSearch = ({ redirect }: Record<string, unknown>): LoginSearch => ({
  redirect: typeof redirect === 'string' ? redirect : undefined,
});
