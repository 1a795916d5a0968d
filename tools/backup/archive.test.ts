import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { newFolder } from '../../tests/place.ts';
import { createArchive } from './archive.ts';

test('a disk that is full from the first byte leaves no file that the next backup would take for a running one', async () => {
  const folder = await newFolder();
  const file = join(folder, 'lanyard.tar');
  const handle = await open(folder);
  await handle.close();
  const writing = vi.spyOn(Object.getPrototypeOf(handle) as typeof handle, 'writeFile');
  writing.mockRejectedValueOnce(new Error('ENOSPC: no space left on device, write'));
  await expect(createArchive(file, new Date(0))).rejects.toThrow('ENOSPC');
  writing.mockRestore();
  expect(await readdir(folder)).toEqual([]);
});
