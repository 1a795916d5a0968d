import type { FastifyReply, FastifyRequest } from 'fastify';
import { pipeline, type Readable, type Transform } from 'node:stream';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type { Route } from '../../contract/route.ts';

/** A response that fits into one packet gains nothing from compression. */
const minBytes = 1024;
/** Nearly as small as the highest quality, in a tenth of the time. */
const quality = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } };

type Packer = { text: (text: string) => Promise<Buffer>; stream: () => Transform };
const brotli = promisify<string, zlib.BrotliOptions, Buffer>(zlib.brotliCompress);

/** Since Node 22.15. */
type Zstd = { zstdCompress?: typeof zlib.gzip; createZstdCompress?: () => Transform };
const { zstdCompress, createZstdCompress } = zlib as typeof zlib & Zstd;

/** By preference: zstd is as small as brotli in a third of the time. */
const packers = new Map<string, Packer>([
  ...(zstdCompress && createZstdCompress
    ? [['zstd', { text: promisify(zstdCompress), stream: createZstdCompress }] as const]
    : []),
  ['br', { text: (text) => brotli(text, quality), stream: () => zlib.createBrotliCompress(quality) }],
  ['gzip', { text: promisify(zlib.gzip), stream: () => zlib.createGzip() }],
]);

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
  const packer = text.length > minBytes ? negotiate(request, reply) : undefined;
  return packer ? packer.text(text) : text;
}

/** The stream, compressed if the client accepts it. */
export function compressedStream(
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  stream: Readable,
): Readable {
  const packer = isCompressible(route) ? negotiate(request, reply) : undefined;
  // an error of either end destroys the other
  return packer ? pipeline(stream, packer.stream(), () => undefined) : stream;
}

function negotiate({ headers }: FastifyRequest, reply: FastifyReply): Packer | undefined {
  reply.header('vary', 'accept-encoding');
  const accepted = (headers['accept-encoding'] ?? '')
    .toLowerCase()
    .split(',')
    .filter((one) => !/;\s*q=0(\.0*)?\s*$/.test(one))
    .map((one) => one.replace(/;.*$/, '').trim());
  const encoding = [...packers.keys()].find((one) => accepted.includes(one));
  if (encoding === undefined) return undefined;
  reply.header('content-encoding', encoding);
  return packers.get(encoding);
}
