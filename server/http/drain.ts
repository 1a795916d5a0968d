import type { FastifyInstance } from 'fastify';
import type { Socket } from 'node:net';
import { setImmediate as nextTick, setTimeout as sleep } from 'node:timers/promises';

export type Drain = { isDraining(): boolean };

/** A turn of the event loop that took less had almost nothing to do. */
const idleMs = 0.5;
const maxTurns = 2000;

/** A client that connects sends its request at once; a browser also opens connections that it may never use. */
const silentMs = 1000;
const lookMs = 50;

/**
 * Graceful shutdown behind a load balancer: on close, `/readyz` returns 503 for `drainMs` while every call is still
 * served, with `Connection: close`, so that clients and proxies connect to other processes. Then the listener closes, and
 * the calls in progress are completed. A connection without a call does not delay the stop.
 */
export function drainOnClose(app: FastifyInstance, drainMs: number): Drain {
  let draining = false;
  let looking: NodeJS.Timeout | undefined;
  const openedAt = new Map<Socket, number>();
  app.server.on('connection', (socket: Socket) => {
    openedAt.set(socket, performance.now());
    socket.once('close', () => openedAt.delete(socket));
  });

  // For Node, a connection is idle when its response is written, though a slow client has yet to receive the rest of it.
  const closeIdle = app.server.closeIdleConnections.bind(app.server);
  app.server.closeIdleConnections = () => {
    if ([...openedAt.keys()].every((socket) => socket.writableLength === 0)) closeIdle();
  };

  /** Node closes only what is idle when the listener closes, and counts a connection without any byte as busy. */
  function closeUnused(): void {
    if (app.server.listening) return;
    // of responses that began before the drain: they announced that it stays open
    app.server.closeIdleConnections();
    for (const [socket, since] of openedAt)
      if (socket.bytesRead === 0 && performance.now() - since > silentMs) socket.destroy();
  }

  app.addHook('preClose', async () => {
    draining = true;
    await sleep(drainMs);
    await idleTurn();
    looking = setInterval(closeUnused, lookMs);
  });
  app.addHook('onClose', async () => clearInterval(looking));
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
