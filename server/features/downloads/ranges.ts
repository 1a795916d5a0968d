import type { ByteRange } from '../../storage/storage.ts';

/** A client that requests more ranges than this gets the whole file. */
const mostRanges = 2000;

/**
 * Parses the `Range` header for a file of `size` bytes (RFC 9110, section 14): ranges in the order requested,
 * `unsatisfiable`, or `whole` if the header is missing, malformed, in another unit, or requests more bytes than the
 * file has.
 */
export function readRanges(
  header: string | undefined,
  size: number,
): ByteRange[] | 'whole' | 'unsatisfiable' {
  const list = /^bytes\s*=(.*)$/i.exec(header?.trim() ?? '')?.[1];
  if (list === undefined) return 'whole';
  const specs = list
    .split(',')
    .map((spec) => spec.trim())
    .filter(Boolean);
  const ranges = specs.map((spec) => readRange(spec, size));
  if (specs.length === 0 || specs.length > mostRanges || ranges.includes('malformed')) return 'whole';
  const within = ranges.filter((range) => typeof range === 'object');
  if (within.length === 0) return 'unsatisfiable';
  const asked = within.reduce((sum, { start, end }) => sum + end - start + 1, 0);
  return asked > size ? 'whole' : within;
}

function readRange(spec: string, size: number): ByteRange | 'malformed' | 'outside' {
  const [, first, last] = /^(\d*)-(\d*)$/.exec(spec) ?? [];
  if (first === undefined || last === undefined || spec === '-') return 'malformed';
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'outside' : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && Number(last) < start) return 'malformed';
  return start >= size ? 'outside' : { start, end };
}

/** The part headers of a `multipart/byteranges` body, its end, and its total length. */
export function frameRanges(ranges: readonly ByteRange[], size: number, boundary: string) {
  const heads = ranges.map(
    ({ start, end }, index) =>
      `${index === 0 ? '' : '\r\n'}--${boundary}\r\nContent-Type: application/octet-stream\r\n` +
      `Content-Range: bytes ${start}-${end}/${size}\r\n\r\n`,
  );
  const tail = `\r\n--${boundary}--\r\n`;
  const length = ranges.reduce(
    (sum, { start, end }, index) => sum + (heads[index] ?? '').length + end - start + 1,
    tail.length,
  );
  return { heads, tail, length };
}
