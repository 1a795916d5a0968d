import type { Signer } from '../../signer.ts';

/** The types of our signed texts, as the header `typ` names them. */
export const jwsTypes = {
  request: 'lanyard-request+jwt',
  license: 'lanyard-license+jwt',
  receipt: 'lanyard-return+jwt',
} as const;

/** A decoded compact JWS (RFC 7515). Nothing in it is proven until `signature` is verified over `signed`. */
export type Jws = { type: string; payload: unknown; signed: string; signature: Buffer };

/** Signs a payload as a compact JWS with the key of the installation; `header` adds to its header. */
export function encodeJws(signer: Signer, type: string, payload: object, header: object = {}): string {
  const signed = [{ alg: 'EdDSA', typ: type, kid: signer.keyId, ...header }, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${signed}.${Buffer.from(signer.sign(signed), 'base64').toString('base64url')}`;
}

/** Decodes a compact JWS with `alg` EdDSA; undefined for any other text. */
export function decodeJws(text: string): Jws | undefined {
  const [head = '', body = '', tail = '', ...rest] = text.split('.');
  const signature = bytesOf(tail);
  const header = jsonOf(head) as { alg?: unknown; typ?: unknown; crit?: unknown } | null | undefined;
  const payload = jsonOf(body);
  const isOurs =
    rest.length === 0 &&
    signature?.length === 64 &&
    payload !== undefined &&
    header?.alg === 'EdDSA' &&
    typeof header.typ === 'string' &&
    // an extension that we do not know could change what the signature means
    header.crit === undefined;
  return isOurs ? { type: header.typ as string, payload, signed: `${head}.${body}`, signature } : undefined;
}

/** Base64url in its only canonical spelling: a decoder that ignores spare bits would accept altered texts. */
export function bytesOf(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}

function jsonOf(text: string): unknown {
  const bytes = bytesOf(text);
  if (!bytes) return undefined;
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}
