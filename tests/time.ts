import assert from 'node:assert/strict';
import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** Time stands still until a test moves it. */
export type Clock = { now(): Date; advance(ms: number): void; set(to: Date | string): void };

/** A clock that stands at `start`. */
export function movableClock(start: Date | string = '2026-11-20T09:30:00.000Z'): Clock {
  let at = new Date(start).getTime();
  return {
    now: () => new Date(at),
    advance: (ms) => void (at += ms),
    set: (to) => void (at = new Date(to).getTime()),
  };
}

export const seconds = (n: number) => n * 1000;
export const minutes = (n: number) => n * 60_000;
export const hours = (n: number) => n * 3_600_000;
export const days = (n: number) => n * 86_400_000;

/** 0 to `n` - 1. */
export const numbers = (n: number) => Array.from({ length: n }, (_, i) => i);

/** A time limit (ms) for an idle machine: twice as long, since cores may be slow, and longer on one that is busy now. */
export const patience = (limitMs: number) =>
  Math.ceil(limitMs * Math.max(2, (2 * loadavg()[0]!) / availableParallelism()));

/** Whether a line of a log says what a busy machine explains: a slow disk, and a start of more than three seconds. */
export const isExplainedByLoad = (line: string) =>
  /It did not answer within 2 seconds|Still waiting for /.test(line);

/**
 * Runs `work` until it takes at most `limitMs` (longer on a busy machine): such a machine is late once or twice, a slow
 * program each time.
 */
export const within = (limitMs: number, work: () => Promise<unknown>) =>
  eventually(async () => {
    const from = performance.now();
    await work();
    assert.ok(performance.now() - from <= patience(limitMs), `It takes longer than ${limitMs} ms each time.`);
  });

/**
 * Runs `check` until it neither throws nor answers false; fails with what it said last when the time is up. That is less
 * than the minute after which a process forgets what it keeps: a change that it is not told of must fail the test.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  withinMs = 45_000,
): Promise<Exclude<T, false>> {
  const from = performance.now();
  for (;;) {
    const passedMs = performance.now() - from;
    try {
      const value = await check();
      if (value !== false) return value as Exclude<T, false>;
      if (passedMs > withinMs) throw new Error(`It did not come true within ${withinMs} ms.`);
    } catch (error) {
      if (passedMs > withinMs) throw error;
    }
    // a check may be a call of the service: what takes long is asked for less often
    await sleep(Math.min(20 + passedMs / 10, 200));
  }
}
