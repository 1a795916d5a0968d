export type LoginSearch = { redirect?: string | undefined };

/** `redirect` is never shortened, whatever its length: a truncated URL leads elsewhere. `safeRedirect` validates it. */
export const loginSearch = ({ redirect }: Record<string, unknown>): LoginSearch => ({
  redirect: typeof redirect === 'string' ? redirect : undefined,
});
