/* The part of the tar format (POSIX ustar) that plain files need; files of 8 GiB and more as GNU tar writes them. */

export const blockBytes = 512;
/** An octal number of eleven digits; a larger one is binary, marked by the first bit of its field. */
const mostOctal = 8 ** 11 - 1;
const [sizeAt, binaryMark] = [124, 0x80];

/** The header block of a file. Throws if the name does not fit. */
export function headerOf(name: string, size: number, modifiedAt: Date): Buffer {
  if (Buffer.byteLength(name) > 100) throw new Error(`${name} does not fit into a tar archive`);
  const block = Buffer.alloc(blockBytes);
  const octal = (value: number, at: number, length: number) =>
    block.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1');
  block.write(name, 0, 'utf8');
  octal(0o600, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  if (size <= mostOctal) octal(size, sizeAt, 12);
  else {
    block[sizeAt] = binaryMark;
    block.writeBigUInt64BE(BigInt(size), sizeAt + 4);
  }
  octal(Math.floor(modifiedAt.getTime() / 1000), 136, 12);
  block.write('0', 156, 'latin1');
  block.write('ustar\x0000', 257, 'latin1');
  block.write(`${checksumOf(block).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

/** Name and size of the file that follows; undefined if the block is not a header. */
export function readHeader(block: Buffer): { name: string; size: number } | undefined {
  if (block.length < blockBytes || block.toString('latin1', 257, 262) !== 'ustar') return undefined;
  const text = (at: number, length: number) => block.toString('utf8', at, at + length).replace(/\0[^]*$/, '');
  if (Number.parseInt(text(148, 8), 8) !== checksumOf(block)) return undefined;
  const isBinary = block[sizeAt] === binaryMark;
  const size = isBinary ? Number(block.readBigUInt64BE(sizeAt + 4)) : Number.parseInt(text(sizeAt, 12), 8);
  return { name: text(0, 100), size };
}

/** Number of padding bytes between a file and the next header. */
export const paddingOf = (size: number): number => (blockBytes - (size % blockBytes)) % blockBytes;

/** The sum of all bytes, with spaces in the field of the checksum. */
function checksumOf(block: Buffer): number {
  return block.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 0x20 : byte), 0);
}
