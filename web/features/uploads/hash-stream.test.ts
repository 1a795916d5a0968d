import { createHash, randomBytes, randomInt } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { hashStream, type HashState } from './hash-stream.ts';

const megabyte = 1_048_576;
const quiet = { onProgress: () => undefined, onCheckpoint: () => undefined };
/** Streams in pieces, as a browser reads a file. */
const fileOf = (bytes: Buffer<ArrayBuffer>) => {
  const starts = Array.from({ length: Math.ceil(bytes.length / megabyte) }, (_, index) => index * megabyte);
  return new Blob(starts.map((start) => bytes.subarray(start, start + megabyte)));
};
const random = (size: number) => Buffer.from(new Uint8Array(randomBytes(size)));
const expected = (bytes: Buffer) => createHash('sha512').update(bytes).digest('base64');

describe('SHA-512 of a file', () => {
  const sizes = [
    0,
    1,
    127,
    128,
    129,
    65_535,
    65_536,
    ...Array.from({ length: 12 }, () => randomInt(3 * megabyte)),
  ];

  test.each(sizes)('of %i bytes is that of node:crypto', async (size) => {
    const bytes = random(size);
    expect(await hashStream(fileOf(bytes), null, quiet)).toBe(expected(bytes));
  });

  test('goes on from where it was left, and reports how far it is', async () => {
    const bytes = random(10 * megabyte + 12_345);
    const kept: HashState[] = [];
    const hashed: number[] = [];
    const on = {
      onProgress: (n: number) => hashed.push(n),
      onCheckpoint: (state: HashState) => kept.push(structuredClone(state)),
    };
    const first = await hashStream(fileOf(bytes), null, on, 4 * megabyte);
    expect(first).toBe(expected(bytes));
    expect(kept).toHaveLength(2);
    expect(hashed.at(-1)).toBe(bytes.length);
    expect(hashed).toEqual(hashed.toSorted((a, b) => a - b));

    const again: number[] = [];
    const second = await hashStream(fileOf(bytes), kept[1]!, {
      ...quiet,
      onProgress: (n) => again.push(n),
    });
    expect(second).toBe(first);
    expect(again[0]).toBeGreaterThan(kept[1]!.offset);
  });

  test.each([5000, 500])('starts again with an unusable state (%i)', async (offset) => {
    const bytes = random(1000);
    const state = { offset, state: new Uint8Array(4) };
    expect(await hashStream(fileOf(bytes), state, quiet)).toBe(expected(bytes));
  });
});
