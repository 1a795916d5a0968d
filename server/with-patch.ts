/** Applies `patch` to `record`; omitted and undefined fields keep their values. */
export function withPatch<R extends object>(record: R, patch: { [K in keyof R]?: R[K] | undefined }): R {
  const set = Object.entries(patch).filter(([, value]) => value !== undefined);
  return { ...record, ...Object.fromEntries(set) };
}
