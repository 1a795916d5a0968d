import { createCipheriv, createHash, randomBytes } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';

/** Pseudorandom bytes that compress badly and are the same in every run. */
export function noise(size: number, seed: string): Buffer {
  const key = createHash('sha256').update(seed).digest();
  return createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(size));
}

/** Bytes with the signature of a Windows program: `MZ`, a PE header, then `content`. */
export function program(size: number, content: Buffer = randomBytes(size)): Buffer {
  const bytes = Buffer.from(content.subarray(0, size));
  bytes.write('MZ', 0, 'latin1');
  bytes.writeUInt32LE(0x80, 0x3c);
  bytes.write('PE\0\0', 0x80, 'latin1');
  return bytes;
}

/** Bytes with the signature of a ZIP archive: a local header, random content, and the end of central directory. */
export function archive(size: number): Buffer {
  const bytes = randomBytes(size);
  bytes.write('PK\x03\x04', 0, 'latin1');
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 0, 'latin1');
  end.writeUInt32LE(size - 22, 16);
  end.copy(bytes, size - 22);
  return bytes;
}

/** A disk image: its last 512 bytes start with `koly`. */
export function diskImage(size: number): Buffer {
  const bytes = randomBytes(size);
  bytes.write('koly', size - 512, 'latin1');
  return bytes;
}

/** Bytes with the signature of an AppImage: an ELF header with its type 2 magic. */
export function appImage(size: number): Buffer {
  const bytes = randomBytes(size);
  bytes.write('\x7fELF\x02\x01\x01\x00AI\x02', 0, 'latin1');
  return bytes;
}

/**
 * `bytes` with the trailer of electron-builder's AppImages: the deflated block map and its length; `other` takes the place
 * of its fields.
 */
export function withBlockmap(bytes: Buffer, other: object = {}): Buffer {
  const size = 32 * 1024;
  const blocks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
  const file = {
    name: 'file',
    offset: 0,
    checksums: blocks.map((block) => createHash('sha256').update(block).digest('base64').slice(0, 24)),
    sizes: blocks.map((block) => block.length),
    ...other,
  };
  const map = deflateRawSync(JSON.stringify({ version: '2', files: [file] }));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(map.length);
  return Buffer.concat([bytes, map, length]);
}

export const sha512Of = (bytes: Buffer) => createHash('sha512').update(bytes).digest('base64');
