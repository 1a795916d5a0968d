import type { FastifyInstance } from 'fastify';
import { setImmediate as nextTick, setTimeout as sleep } from 'node:timers/promises';

export type Drain = { isDraining(): boolean };

/** A turn of the event loop that took less had almost nothing to do. */
const idleMs = 0.5;
const maxTurns = 2000;

/**
 * Graceful shutdown behind a load balancer: on close, `/readyz` returns 503 for `drainMs` while every call is still
 * served, with `Connection: close`, so that clients and proxies connect to other processes. Then the listener closes, and
 * the calls in progress are completed.
 */
export function drainOnClose(app: FastifyInstance, drainMs: number): Drain {
  let draining = false;
  app.addHook('preClose', async () => {
    draining = true;
    await sleep(drainMs);
    await idleTurn();
  });
  // An open connection would delay the stop. Otherwise none is closed: Fastify would close one whose body it refuses,
  // and a client that is still sending would lose the response.
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (draining) reply.header('connection', 'close');
    // Without removing it, Node announces keep-alive, and a client that cancels a download would keep the call open.
    else reply.removeHeader('connection');
    done(null, payload);
  });
  return { isDraining: () => draining };
}

/**
 * When the listener closes, connections are reset that the kernel has accepted and Node has not. Immediately after a
 * short turn of the event loop there are almost none.
 */
async function idleTurn(): Promise<void> {
  for (let turn = 0; turn < maxTurns; turn++) {
    const from = performance.now();
    await nextTick();
    if (performance.now() - from < idleMs) return;
  }
}
