import { expect, test } from 'vitest';
import { createTransferMeter, unknownPace } from './transfer-meter.ts';

const megabyte = 1_048_576;

test('returns nothing before there is something to measure', () => {
  const { pace } = createTransferMeter();
  expect(pace(0, 0, 100)).toEqual(unknownPace);
  expect(pace(300, 50, 100)).toEqual(unknownPace);
});

test('gives speed and time left of a steady transfer', () => {
  const { pace } = createTransferMeter();
  for (let at = 0; at < 3000; at += 200) pace(at, (at / 1000) * megabyte, 60 * megabyte);
  const { bytesPerSecond, secondsLeft } = pace(3000, 3 * megabyte, 60 * megabyte);
  expect(bytesPerSecond).toBeCloseTo(megabyte);
  expect(secondsLeft).toBeCloseTo(57);
});

test('forgets what is more than five seconds ago', () => {
  const { pace } = createTransferMeter();
  let done = 0;
  for (let at = 0; at <= 10_000; at += 250) pace(at, (done += 250_000), 1e9);
  for (let at = 10_250; at <= 16_000; at += 250) pace(at, (done += 25_000), 1e9);
  expect(pace(16_250, (done += 25_000), 1e9).bytesPerSecond).toBeCloseTo(100_000);
});

test('a stalled transfer has no time left, and lost bytes are no negative speed', () => {
  const still = createTransferMeter();
  still.pace(0, 500, 1000);
  expect(still.pace(2000, 500, 1000)).toEqual({ bytesPerSecond: 0, secondsLeft: null });
  const lost = createTransferMeter();
  lost.pace(0, 500, 1000);
  expect(lost.pace(2000, 100, 1000)).toEqual({ bytesPerSecond: 0, secondsLeft: null });
});

test('restarts after a reset', () => {
  const meter = createTransferMeter();
  meter.pace(0, 0, 1000);
  meter.pace(1000, 500, 1000);
  meter.reset();
  expect(meter.pace(9000, 500, 1000)).toEqual(unknownPace);
  expect(meter.pace(10_000, 600, 1000)).toEqual({ bytesPerSecond: 100, secondsLeft: 4 });
});
