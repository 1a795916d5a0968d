import { createHash, randomBytes } from 'node:crypto';

/** Bytes that are a Windows program as far as anyone looks: `MZ`, a PE header, and whatever follows. */
export function program(size: number, content: Buffer = randomBytes(size)): Buffer {
  const bytes = Buffer.from(content.subarray(0, size));
  bytes.write('MZ', 0, 'latin1');
  bytes.writeUInt32LE(0x80, 0x3c);
  bytes.write('PE\0\0', 0x80, 'latin1');
  return bytes;
}

/** An archive of nothing but stored bytes: a local header, content, and the end of the directory. */
export function archive(size: number): Buffer {
  const bytes = randomBytes(size);
  bytes.write('PK\x03\x04', 0, 'latin1');
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 0, 'latin1');
  end.writeUInt32LE(size - 22, 16);
  end.copy(bytes, size - 22);
  return bytes;
}

/** A disk image: its last 512 bytes begin with `koly`. */
export function diskImage(size: number): Buffer {
  const bytes = randomBytes(size);
  bytes.write('koly', size - 512, 'latin1');
  return bytes;
}

/** An AppImage as far as anyone looks: an ELF header with the mark of its second type, and whatever follows. */
export function appImage(size: number, content: Buffer = randomBytes(size)): Buffer {
  const bytes = Buffer.from(content.subarray(0, size));
  bytes.write('\x7fELF\x02\x01\x01\x00AI\x02', 0, 'latin1');
  return bytes;
}

export const sha512Of = (bytes: Buffer) => createHash('sha512').update(bytes).digest('base64');
