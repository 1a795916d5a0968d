import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { newFolder } from '../../tests/place.ts';
import { createArchive, openArchive } from './archive.ts';

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

test('what cannot be read to its end is left out, and the rest is whole', async () => {
  const file = join(await newFolder(), 'lanyard.tar');
  const archive = await createArchive(file, new Date(0));
  async function* badSector() {
    yield Buffer.alloc(1_000_000, 'x');
    throw new Error('EIO: i/o error, read');
  }
  await expect(archive.addStream('binaries/bad', 2_000_000, badSector())).rejects.toThrow('EIO');
  await archive.add('binaries/good', 'good');
  await archive.finish({
    madeAt: new Date(0).toISOString(),
    version: '1.0.0',
    database: { migrations: [], tables: [], partitions: [], sequences: [] },
  });
  const whole = await openArchive(file, () => undefined);
  expect(whole.namesIn('binaries')).toEqual(['binaries/good']);
  expect((await whole.read('binaries/good')).toString()).toBe('good');
});
