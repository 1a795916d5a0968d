/** Speed and remaining time; both null while they are unknown. */
export type Pace = { bytesPerSecond: number | null; secondsLeft: number | null };

export const unknownPace: Pace = { bytesPerSecond: null, secondsLeft: null };

const windowLength = 5000;
const shortestSpan = 400;

/**
 * Measures a transfer over its last five seconds. `at` is in milliseconds of any clock. `reset` starts a new
 * measurement, such as after a pause.
 */
export function createTransferMeter() {
  let samples: { at: number; done: number }[] = [];
  return {
    reset: () => void (samples = []),
    pace: (at: number, done: number, total: number): Pace => {
      const newest = { at, done };
      samples.push(newest);
      // the newest sample that is at least a window old is kept: the measurement starts there
      while (samples.length > 2 && at - (samples[1]?.at ?? at) >= windowLength) samples.shift();
      const [first = newest] = samples;
      const span = at - first.at;
      if (span < shortestSpan) return unknownPace;
      const bytesPerSecond = Math.max(0, ((done - first.done) / span) * 1000);
      const secondsLeft = bytesPerSecond > 0 ? Math.max(0, total - done) / bytesPerSecond : null;
      return { bytesPerSecond, secondsLeft };
    },
  };
}
