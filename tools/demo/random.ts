/** A seeded random generator (mulberry32): the same seed generates the same company. */
export function createRandom(seed: number) {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }
  const whole = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    /** A whole number from `min` to `max`, inclusive. */
    whole,
    pick: <T>(items: readonly T[]): T => items[whole(0, items.length - 1)]!,
    /** `count` different items, in their original order. */
    some<T>(items: readonly T[], count: number): T[] {
      const left = items.map((item, index) => ({ item, index }));
      const taken = Array.from(
        { length: Math.min(count, left.length) },
        () => left.splice(whole(0, left.length - 1), 1)[0]!,
      );
      return taken.toSorted((a, b) => a.index - b.index).map(({ item }) => item);
    },
    chance: (probability: number) => next() < probability,
    hex: (length: number) => Array.from({ length }, () => whole(0, 15).toString(16)).join(''),
  };
}

export type Random = ReturnType<typeof createRandom>;
