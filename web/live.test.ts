import { focusManager } from '@tanstack/react-query';
import { afterEach, expect, test, vi } from 'vitest';
import { live, watchAttendance } from './live.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('what changes by itself is asked again within half a minute', () => {
  expect(live.refetchInterval({ state: { status: 'success', data: [] } })).toBeLessThan(30_000);
  expect(live.refetchInterval({ state: { status: 'error', data: [] } })).toBeLessThan(30_000);
  // even when the cache is fresh
  expect(live.refetchOnWindowFocus).toBe('always');
});

test('a screen that could not be loaded waits for Retry', () => {
  expect(live.refetchInterval({ state: { status: 'error', data: undefined } })).toBe(false);
});

test('a page without input for a quarter of an hour makes no calls until there is input', () => {
  vi.useFakeTimers();
  vi.stubGlobal('window', new EventTarget());
  vi.stubGlobal('document', Object.assign(new EventTarget(), { visibilityState: 'visible' }));
  watchAttendance();
  vi.advanceTimersByTime(14 * 60_000);
  expect(focusManager.isFocused()).toBe(true);
  vi.advanceTimersByTime(2 * 60_000);
  expect(focusManager.isFocused()).toBe(false);
  window.dispatchEvent(new Event('keydown'));
  expect(focusManager.isFocused()).toBe(true);
  vi.stubGlobal('document', Object.assign(document, { visibilityState: 'hidden' }));
  document.dispatchEvent(new Event('visibilitychange'));
  expect(focusManager.isFocused()).toBe(false);
});

test('the first touch of a page that is looked at asks for nothing', () => {
  vi.useFakeTimers();
  vi.stubGlobal('window', new EventTarget());
  vi.stubGlobal('document', Object.assign(new EventTarget(), { visibilityState: 'visible' }));
  focusManager.setFocused(undefined);
  watchAttendance();
  let times = 0;
  const stop = focusManager.subscribe(() => (times += 1));
  window.dispatchEvent(new Event('pointermove'));
  stop();
  expect(times).toBe(0);
});
