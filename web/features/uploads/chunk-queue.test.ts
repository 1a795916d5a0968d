import { describe, expect, test, vi } from 'vitest';
import { ApiError } from '../../api-error.ts';
import { createPool, sendChunks } from './chunk-queue.ts';

const soon = (ms = 1) => new Promise((resolve) => setTimeout(resolve, ms));
const indexes = (n: number) => Array.from({ length: n }, (_, index) => index);

/** Sends that fail as often as `failures` says, by index. */
function fakeServer(failures: Record<number, number> = {}, reason: unknown = new ApiError(0, 'gone')) {
  const sent: number[] = [];
  const left = { ...failures };
  let atOnce = 0;
  const seen = { most: 0 };
  const send = vi.fn(async (index: number, signal: AbortSignal) => {
    seen.most = Math.max(seen.most, ++atOnce);
    await soon();
    atOnce--;
    signal.throwIfAborted();
    if ((left[index] ?? 0) > 0) {
      left[index]!--;
      throw reason;
    }
    sent.push(index);
  });
  return { send, sent, seen };
}

const run = (
  server: { send: (i: number, s: AbortSignal) => Promise<void> },
  n: number,
  signal?: AbortSignal,
  hold?: AbortSignal,
) =>
  sendChunks(indexes(n), {
    totalChunks: n,
    parallel: 6,
    send: server.send,
    signal: signal ?? new AbortController().signal,
    hold: hold ?? new AbortController().signal,
  });

describe('sending chunks', () => {
  test('sends each once, six at a time', async () => {
    const server = fakeServer();
    await run(server, 40);
    expect(server.sent.toSorted((a, b) => a - b)).toEqual(indexes(40));
    expect(server.send).toHaveBeenCalledTimes(40);
    expect(server.seen.most).toBe(6);
  });

  test('sends only what is missing', async () => {
    const server = fakeServer();
    const signal = new AbortController().signal;
    await sendChunks([3, 7], { totalChunks: 10, parallel: 6, send: server.send, signal, hold: signal });
    expect(server.sent).toEqual([3, 7]);
  });

  test('sends those that failed once more, after all others', async () => {
    const server = fakeServer({ 0: 1, 5: 1 });
    await run(server, 20);
    expect(server.send).toHaveBeenCalledTimes(22);
    expect(server.sent.slice(-2).toSorted()).toEqual([0, 5]);
  });

  test('gives up a chunk that fails twice, and names it', async () => {
    const server = fakeServer({ 2: 2 });
    await expect(run(server, 12)).rejects.toMatchObject({
      message: 'Failed to upload chunk 3/12',
      status: 0,
    });
    expect(server.sent).toHaveLength(11);
    expect(server.send).toHaveBeenCalledTimes(13);
  });

  test.each([
    [404, 'NOT_FOUND', 'Upload not found'],
    [409, 'WRONG_STATE', 'The upload is cancelled'],
    [507, 'STORAGE_FULL', 'The storage is full'],
  ] as const)(
    'stops at once at a refusal (%i), with the words of the server',
    async (status, code, error) => {
      const server = fakeServer({ 4: 1 }, new ApiError(status, error, { code, error }));
      await expect(run(server, 500)).rejects.toMatchObject({
        status,
        message: `Failed to upload chunk 5/500\n${error}`,
      });
      expect(server.send.mock.calls.length).toBeLessThan(20);
    },
  );

  test('sends again what a proxy refused, which is no answer of the service', async () => {
    const server = fakeServer({ 4: 1 }, new ApiError(403, 'Request failed with status 403'));
    await run(server, 10);
    expect(server.send).toHaveBeenCalledTimes(11);
  });

  test('stops when nothing gets through any more', async () => {
    const server = fakeServer(Object.fromEntries(indexes(500).map((i) => [i, 9])));
    await expect(run(server, 500)).rejects.toThrow(/^Failed to upload chunk \d+\/500$/);
    expect(server.send.mock.calls.length).toBeLessThanOrEqual(18);
  });

  test('on hold finishes the chunks in progress, and starts no more', async () => {
    const hold = new AbortController();
    const server = fakeServer();
    const running = run(server, 500, undefined, hold.signal);
    hold.abort(new Error('paused'));
    await expect(running).rejects.toThrow('paused');
    expect(server.sent).toEqual([0, 1, 2, 3, 4, 5]);
    expect(server.send).toHaveBeenCalledTimes(6);
  });

  test('ends with the reason of the signal, and leaves nothing under way', async () => {
    const stop = new AbortController();
    const server = fakeServer();
    const running = run(server, 500, stop.signal);
    await soon(5);
    stop.abort(new Error('paused'));
    await expect(running).rejects.toThrow('paused');
    const calls = server.send.mock.calls.length;
    await soon(20);
    expect(server.send.mock.calls.length).toBe(calls);
  });
});

describe('a pool', () => {
  test('is shared in the order of asking, and survives failures', async () => {
    const pool = createPool(2);
    const order: string[] = [];
    let most = 0;
    let atOnce = 0;
    const job = (name: string, fails = false) =>
      pool(async () => {
        most = Math.max(most, ++atOnce);
        await soon();
        atOnce--;
        order.push(name);
        if (fails) throw new Error(name);
      });
    const results = await Promise.allSettled([job('a'), job('b', true), job('c'), job('d'), job('e')]);
    expect(order).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(most).toBe(2);
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1);
  });
});
