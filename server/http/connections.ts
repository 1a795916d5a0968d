import type { FastifyInstance } from 'fastify';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ArrivalLimits } from './arrivals.ts';

/**
 * Resets the connection of a response that is not whole. HTTP/1.0, which many proxies speak, has no chunks: there, a
 * connection that is just closed is the end of a whole file.
 */
export function breakOff(socket: Socket): void {
  socket.resetAndDestroy();
  // at once: a reset waits until all is written, and maybe nobody reads
  socket.destroy();
}

/** The requests that wait for the response before theirs, this response, and when its last bytes left. */
type Connection = { waiting: number; response?: ServerResponse | undefined; sent: number; sentAt: number };

/**
 * Handles the requests of a connection one after the other, and closes it if too many wait, or if its client reads no
 * more of a response: each response that has begun holds a file or a part of it in memory. `owesResponse` is whether a
 * response has begun, or its request has arrived completely: another response would be read as this one, or as its bytes.
 */
export function limitConnections(app: FastifyInstance, limits: ArrivalLimits) {
  const connections = new Map<Socket, Connection>();
  app.server.on('connection', (socket: Socket) => {
    connections.set(socket, { waiting: 0, sent: 0, sentAt: 0 });
    socket.once('close', () => connections.delete(socket));
  });
  app.addHook('onRequest', ({ raw }, reply, done) => {
    const connection = connections.get(raw.socket);
    // Node gives a response its connection when the one before it is complete
    if (reply.raw.socket) {
      if (connection) connection.response = reply.raw;
      return done();
    }
    if (!connection || connection.waiting >= limits.waitingRequests) return void raw.socket.destroy();
    connection.waiting += 1;
    reply.raw.once('socket', () => {
      connection.waiting -= 1;
      connection.response = reply.raw;
      done();
    });
  });
  app.addHook('onResponse', ({ raw }, reply, done) => {
    const connection = connections.get(raw.socket);
    // an open connection would keep it and its request in memory
    if (connection?.response === reply.raw) connection.response = undefined;
    done();
  });
  const timer = setInterval(() => {
    for (const [socket, connection] of connections) {
      const sent = socket.bytesWritten - socket.writableLength;
      if (socket.writableLength === 0 || sent !== connection.sent)
        Object.assign(connection, { sent, sentAt: performance.now() });
      else if (performance.now() - connection.sentAt > limits.unreadMs) breakOff(socket);
    }
  }, limits.lookMs).unref();
  // a stop that took too long gives up what is under way
  const breakAllOff = () => {
    for (const [socket, { response }] of connections) if (response?.headersSent) breakOff(socket);
  };
  process.on('exit', breakAllOff);
  app.addHook('onClose', async () => {
    clearInterval(timer);
    process.off('exit', breakAllOff);
  });
  const owesResponse = (socket: Socket): boolean => {
    const response = connections.get(socket)?.response;
    return !!response && (response.req.complete || response.headersSent);
  };
  return { owesResponse };
}
