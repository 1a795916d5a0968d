import type { IncomingMessage } from 'node:http';
import { breaksRule, type Failure } from '../../failure.ts';
import { requestOutbound, NotPublic, type Outbound } from '../../outbound-http.ts';

const mostRedirects = 3;

/** Why the file is unavailable, as the end of a sentence about its URL. */
class Unusable extends Error {}

/**
 * Checks that an external file exists and has `fileSize` bytes: by HEAD and, where that is inconclusive, by a GET of
 * the first byte. Undefined on success; otherwise RULE_VIOLATED, naming the field.
 */
export async function probeFile(
  outbound: Outbound,
  { fileUrl, fileSize }: { fileUrl: string; fileSize: number },
  limitMs = 5000,
): Promise<Failure | undefined> {
  const signal = AbortSignal.timeout(limitMs);
  try {
    const url = new URL(fileUrl);
    const head = await follow(outbound, url, { method: 'HEAD', headers: {}, signal });
    if (sizeOf(head) === fileSize) return undefined;
    const firstByte = { method: 'GET', headers: { range: 'bytes=0-0' }, signal } as const;
    const size = sizeOf(await follow(outbound, url, firstByte));
    if (size instanceof Unusable) throw size;
    return size === fileSize
      ? undefined
      : breaksRule('fileSize', `The file at this address has ${size} bytes, not ${fileSize}`);
  } catch (error) {
    if (signal.aborted) {
      return breaksRule('fileUrl', `The server did not answer within ${limitMs / 1000} seconds`);
    }
    return breaksRule('fileUrl', why(error));
  }
}

type Options = Parameters<typeof requestOutbound>[2];

async function follow(outbound: Outbound, first: URL, options: Options): Promise<IncomingMessage> {
  let url = first;
  for (let redirects = 0; ; redirects++) {
    if (!/^https?:$/.test(url.protocol)) {
      throw new Unusable('Redirects to an address that is neither http nor https');
    }
    const headers = { ...options.headers, 'accept-encoding': 'identity', 'user-agent': 'Lanyard' };
    const response = await requestOutbound(outbound, url, { ...options, headers });
    // only the headers matter, so close without reading a large file
    response.on('error', () => undefined).destroy();
    const { location } = response.headers;
    if (![301, 302, 303, 307, 308].includes(response.statusCode ?? 0) || !location) return response;
    if (redirects === mostRedirects) throw new Unusable(`Redirects more than ${mostRedirects} times`);
    if (!URL.canParse(location, url.href)) throw new Unusable('Redirects to something that is no address');
    url = new URL(location, url);
  }
}

function sizeOf({ statusCode, headers }: IncomingMessage): number | Unusable {
  if (statusCode !== 200 && statusCode !== 206) {
    return new Unusable(`The server answered ${statusCode} instead of the file`);
  }
  const text =
    statusCode === 206
      ? /^bytes \d+-\d+\/(\d+)$/.exec(headers['content-range'] ?? '')?.[1]
      : headers['content-length'];
  const encoded = (headers['content-encoding'] ?? 'identity') !== 'identity';
  if (!text || encoded) return new Unusable('The server does not say how large the file is');
  return Number(text);
}

function why(error: unknown): string {
  if (error instanceof Unusable || error instanceof NotPublic) return error.message;
  const { code } = error as { code?: string };
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'There is no server of this name';
  if (code?.startsWith('CERT_') || code?.includes('CERT') || code?.startsWith('ERR_TLS')) {
    return 'The certificate of the server is not valid';
  }
  return 'The server cannot be reached';
}
