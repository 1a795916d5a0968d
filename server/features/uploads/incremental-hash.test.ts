import { v7 as uuidv7 } from 'uuid';
import { expect, test, vi } from 'vitest';
import { eventually, startTestServer } from '../../../tests/harness.ts';
import { createIncrementalHash } from './incremental-hash.ts';
import type { UploadRow } from './upload-row.ts';

test('an upload that was begun again is hashed on when the reading of its lost file fails', async () => {
  const { db, context } = await startTestServer();
  const lost = vi.fn().mockRejectedValue(new Error('It is gone'));
  const read: [hashing: number, from: number][] = [];
  let hashings = 0;
  const hash = createIncrementalHash({
    db,
    storage: { ...context.storage, fileOf: async ({ token }) => (token === 'begun' ? lost() : token) },
    inspector: {
      stop: async () => undefined,
      begin() {
        const hashing = ++hashings;
        const addFile = async (_file: string, from: number) => void read.push([hashing, from]);
        return { addFile, addBytes: vi.fn(), finish: vi.fn(), drop: vi.fn() };
      },
    },
  });
  const begun = {
    upload_id: uuidv7(),
    multipart_id: 'begun',
    file_name: 'Setup.exe',
    file_key: 'k1',
    file_size: 2,
    chunk_size: 1,
  } as UploadRow;
  const again = { ...begun, multipart_id: 'again' };
  hash.chunkStored(begun, 0, 'tag');
  hash.chunkStored(again, 0, 'tag');
  await eventually(() => lost.mock.calls.length > 0);
  await eventually(() => read.length === 1);
  hash.chunkStored(again, 1, 'tag');
  await eventually(() => read.length === 2);
  expect(read).toEqual([
    [2, 0],
    [2, 1],
  ]);
});
