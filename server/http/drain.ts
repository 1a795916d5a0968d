import type { FastifyInstance } from 'fastify';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

export type Drain = { isDraining(): boolean };

/** A turn of the event loop that took less found next to nothing to do. */
const quietMs = 0.5;
const mostTurns = 2000;

/**
 * The way out of a balancer: closing the app first leaves `/readyz` at 503 for `drainMs` while every call is served, with
 * `Connection: close`, so that clients and proxies come back on other connections, to other processes in the end. Then
 * the listener closes, and what is under way is answered.
 */
export function drainOnClose(app: FastifyInstance, drainMs: number): Drain {
  let draining = false;
  app.addHook('preClose', async () => {
    draining = true;
    await sleep(drainMs);
    await quietTurn();
  });
  // A client that keeps its connection would keep a stopping server waiting for it. For no other reason is one closed:
  // the framework would at a body that it refuses, and the sender, who still sends, would lose the answer.
  app.addHook('onSend', async (_request, reply) => {
    if (draining) reply.header('connection', 'close');
    else reply.removeHeader('connection');
  });
  return { isDraining: () => draining };
}

/**
 * Connections that the kernel has accepted and we have not are reset when the listener closes, requests and all. Right
 * after a turn of the event loop that was short there are none, but for some microseconds.
 */
async function quietTurn(): Promise<void> {
  for (let turn = 0; turn < mostTurns; turn++) {
    const from = performance.now();
    await nextTurn();
    if (performance.now() - from < quietMs) return;
  }
}
