import type { FastifyReply, FastifyRequest } from 'fastify';
import { once } from 'node:events';
import { PassThrough, pipeline, type Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Route } from '../../contract/route.ts';
import type { Caller } from '../caller.ts';
import { runChange } from '../change.ts';
import type { Context } from '../context.ts';
import { refuseEnded } from '../ended-caller.ts';
import type { DownloadFile } from './call.ts';
import { compressed, compressedStream } from './compression.ts';
import { breakOff } from './connections.ts';
import type { UrlCompleter } from './public-urls.ts';

/** Sends what a handler returned: the file of a route with `csv` or `file`, else the envelope. */
export async function sendAnswer(
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  result: unknown,
  completeUrls: UrlCompleter,
): Promise<FastifyReply> {
  if (route.csv || route.file) {
    const { fileName, stream } = result as DownloadFile;
    const sent = compressedStream(route, request, reply, stream);
    if (request.raw.httpVersion === '1.0')
      sent.once('error', () => reply.raw.headersSent && breakOff(request.raw.socket));
    return reply
      .header('content-disposition', `attachment; filename="${fileName}"`)
      .type(`${route.csv ? 'text/csv' : 'application/json'}; charset=utf-8`)
      .send(sent);
  }
  if (!route.answer) return reply.code(204).send();
  const version = (result as { updatedAt?: string }).updatedAt;
  if (version) reply.header('etag', `"${version}"`);
  const { data, ...beside } = (route.meta ? result : { data: result }) as { data: unknown };
  const body = { success: true, data: completeUrls ? completeUrls(data) : data, ...beside };
  const text = await compressed(route, request, reply, JSON.stringify(body));
  return reply
    .code(route.status ?? 200)
    .type('application/json; charset=utf-8')
    .send(text);
}

/** How often the caller of a file that is being sent is looked at. */
const lookEveryMs = 1000;

/**
 * Waits for the first bytes of a file, so that an unavailable database still results in a 503; a later failure aborts
 * the file, which clients detect, instead of hanging. So does the end of the session, or the loss of a permission: a
 * file is read while it is sent, and a slow reader could take hours.
 */
export async function streamWhileMay(context: Context, by: Caller, source: Readable): Promise<Readable> {
  const { signals } = context;
  // destroyed at once; a generator only when the query that it waits for has ended
  const stream = pipeline(source, new PassThrough(), () => undefined);
  await once(stream, 'readable');
  const look = async () => {
    const ended = await runChange(context, by, ({ tx }) => refuseEnded(tx, by.actor, context));
    if (ended) stream.destroy(new Error(ended.message));
  };
  // a database that does not answer aborts the file by itself
  const looking = setInterval(() => void look().catch(() => undefined), lookEveryMs).unref();
  signals
    .untilDown(() => finished(stream))
    .catch((error: Error) => stream.destroy(error))
    .finally(() => clearInterval(looking));
  return stream;
}
