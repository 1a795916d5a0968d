import { randomBytes } from 'node:crypto';
import { Socket } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { newBucket, startFakeS3 } from '../../tests/fake-s3.ts';
import { openStorage } from './open-storage.ts';
import { answerWithinMs } from './patience.ts';

vi.mock('./patience.ts', async (original) => ({ ...(await original<object>()), answerWithinMs: 3000 }));

const MiB = 1024 * 1024;

type Piece = { length: number };
type Write = (this: Socket, data: Piece | { chunk: Piece }[], ...rest: unknown[]) => void;
const line = Socket.prototype as unknown as Record<'_write' | '_writev', Write>;

/** Until the test ends, connections take so many bytes in a millisecond. */
function slowDown(bytesPerMs: number): void {
  for (const name of ['_write', '_writev'] as const) {
    const write = line[name];
    line[name] = function (data, ...rest) {
      const pieces = Array.isArray(data) ? data.map(({ chunk }) => chunk) : [data];
      const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
      setTimeout(() => write.call(this, data, ...rest), bytes / bytesPerMs);
    };
    onTestFinished(() => void (line[name] = write));
  }
}

test('S3 stores what takes longer on the way than it may take to answer', async () => {
  const storage = await openStorage(await newBucket(false));
  onTestFinished(() => storage.close());
  slowDown((6 * MiB) / (1.5 * answerWithinMs));
  const put = async (size: number) => {
    async function* bytes() {
      yield randomBytes(size);
    }
    return storage.put(`${size}.exe`, bytes());
  };
  expect(await Promise.all([put(9 * MiB), put(6 * MiB)])).toEqual([9 * MiB, 6 * MiB]);
});

test('S3 may take longer to complete an upload than to answer', async () => {
  const config = await newBucket(false);
  const s3 = await startFakeS3();
  const storage = await openStorage({ ...config, endpoint: s3.endpoint });
  onTestFinished(async () => (storage.close(), s3.close()));
  async function* bytes() {
    yield randomBytes(MiB);
  }
  s3.mood = 'ponders';
  expect(await storage.put('App.exe', bytes())).toBe(MiB);
});
