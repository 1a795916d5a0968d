import fc from 'fast-check';

/** A code point, but half of a pair: as the unit `binary` of fast-check, which begins with a map of them all. */
export const anySign = fc
  .oneof(fc.nat(0xd7ff), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((point) => String.fromCodePoint(point));
