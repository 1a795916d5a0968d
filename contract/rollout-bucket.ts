// Without schemas, because screens load it: see decision record 67.

/** Whether a rollout includes the machine with this bucket (0 to 99.99; null: a machine without an id). */
export const isInRollout = (bucket: number | null, percentage: number): boolean =>
  percentage >= 100 || (bucket !== null && bucket < percentage);
