import fastify from 'fastify';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { eventually } from '../../tests/harness.ts';
import { stopWithinMs } from '../stop.ts';
import { drainOnClose } from './drain.ts';

/** A service with one call, which sends half of its response and ends when `finish` is called; and a connection to it. */
async function start() {
  const app = fastify({ forceCloseConnections: 'idle', return503OnClosing: false });
  drainOnClose(app, 0);
  let finish = () => {};
  app.get('/', (_request, reply) => {
    reply.hijack();
    reply.raw.writeHead(200, { 'content-length': 2 }).write('a');
    finish = () => reply.raw.end('b');
  });
  const { hostname, port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }));
  const socket = connect({ host: hostname, port: Number(port) });
  await once(socket, 'connect');
  const late = () => sleep(stopWithinMs, 'too late', { ref: false });
  return {
    socket,
    finish: () => finish(),
    isListening: () => app.server.listening,
    stop: () => Promise.race([app.close().then(() => 'stopped'), late()]),
  };
}

test('a stop does not wait for a connection on which nothing was ever sent', async () => {
  const { socket, stop } = await start();
  expect(await stop()).toBe('stopped');
  socket.destroy();
});

test('a stop waits for a response under way, but not for the connection after it', async () => {
  const { socket, stop, finish, isListening } = await start();
  let received = '';
  socket.on('data', (bytes: Buffer) => (received += bytes.toString()));
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  await once(socket, 'data');
  const stopping = stop();
  await eventually(() => !isListening());
  finish();
  expect(await stopping).toBe('stopped');
  expect(received).toMatch(/\r\n\r\nab$/);
});
