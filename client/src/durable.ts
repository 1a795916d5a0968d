import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Replaces a file, or leaves it as it was: after a crash or a power failure it has the old text or the new one. The
 * text is on the disk when this returns. Synchronous, because a program that quits no longer waits for anything.
 */
export function writeDurably(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}.tmp`;
  synced(draft, 'w', (handle) => writeSync(handle, text));
  renameSync(draft, file);
  // Windows cannot open a folder; NTFS keeps a rename in its own journal
  if (process.platform !== 'win32') synced(dirname(file), 'r');
}

function synced(path: string, flags: 'r' | 'w', write?: (handle: number) => void): void {
  const handle = openSync(path, flags, 0o600);
  try {
    write?.(handle);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
