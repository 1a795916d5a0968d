import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import type { Route } from '../../contract/route.ts';

/** A response that fits into one packet gains nothing from compression. */
const minBytes = 1024;
/** Nearly as small as the highest quality, in a tenth of the time. */
const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

const compress = { br: promisify(brotliCompress), gzip: promisify(gzip) };
type Encoding = keyof typeof compress;

/**
 * Whether responses of a route may be compressed: those of the console, unless they contain a secret, because the
 * compressed size could reveal it. Responses to desktops are small and frequent.
 */
const isCompressible = ({ access, shownOnce }: Route): boolean =>
  shownOnce === undefined &&
  (access.kind === 'signedIn' || (access.kind === 'staff' && access.apiKey === undefined));

/** The text of a route's response, compressed if it may be. */
export const compressed = async (
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  text: string,
): Promise<string | Buffer> => (isCompressible(route) ? compressedText(request, reply, text) : text);

/** The text, compressed if it is large enough and the client accepts it. */
export async function compressedText(
  request: FastifyRequest,
  reply: FastifyReply,
  text: string,
): Promise<string | Buffer> {
  const encoding = text.length > minBytes ? negotiate(request, reply) : undefined;
  if (!encoding) return text;
  return encoding === 'br' ? compress.br(text, quality) : compress.gzip(text);
}

/** The stream, compressed if the client accepts it. */
export function compressedStream(
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  stream: Readable,
): Readable {
  const encoding = isCompressible(route) ? negotiate(request, reply) : undefined;
  if (!encoding) return stream;
  const packer = encoding === 'br' ? createBrotliCompress(quality) : createGzip();
  // an error of either end destroys the other
  return pipeline(stream, packer, () => undefined);
}

function negotiate({ headers }: FastifyRequest, reply: FastifyReply): Encoding | undefined {
  reply.header('vary', 'accept-encoding');
  const accepted = (headers['accept-encoding'] ?? '')
    .toLowerCase()
    .split(',')
    .filter((one) => !/;\s*q=0(\.0*)?\s*$/.test(one))
    .map((one) => one.replace(/;.*$/, '').trim());
  const encoding = (['br', 'gzip'] as const).find((one) => accepted.includes(one));
  if (encoding) reply.header('content-encoding', encoding);
  return encoding;
}
