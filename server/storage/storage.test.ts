import { ListPartsCommand } from '@aws-sdk/client-s3';
import { createHash, randomBytes } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { newBucket, startFakeS3 } from '../../tests/fake-s3.ts';
import { hourMs } from '../../contract/durations.ts';
import { isFailure } from '../failure.ts';
import { connect } from './s3-client.ts';
import { openStorage } from './open-storage.ts';
import { ownerName, type Storage, type StoredThing, type Unfinished } from './storage.ts';
import { newFolder } from '../../tests/place.ts';
import { watchStorage } from './watch.ts';

const MiB = 1024 * 1024;
const partBytes = 5 * MiB;

type Place = { storage: Storage; close: () => Promise<void> };

async function onDisk(): Promise<Place> {
  const folder = await newFolder();
  const storage = await openStorage({ kind: 'disk', folder: join(folder, 'binaries') });
  return { storage, close: () => rm(folder, { recursive: true }) };
}

async function onS3(): Promise<Place> {
  const storage = await openStorage(await newBucket(true, 'some/where/'));
  return { storage, close: async () => storage.close() };
}

const places: [string, () => Promise<Place>][] = [
  ['on disk', onDisk],
  ['on S3', onS3],
];

/** In small pieces, as a network gives them. */
async function* pieces(bytes: Buffer, failAt = Infinity): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 60_000) {
    if (at >= failAt) throw new Error('The sender is gone');
    yield bytes.subarray(at, at + 60_000);
  }
}

const ok = <T>(value: T): Exclude<T, { failure: unknown }> => {
  if (isFailure(value)) throw new Error(value.message);
  return value as Exclude<T, { failure: unknown }>;
};

const all = async (bytes: Readable | undefined) => Buffer.concat((await bytes!.toArray()) as Buffer[]);
const sum = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

async function list(storage: Storage): Promise<StoredThing[]> {
  const things: StoredThing[] = [];
  for await (const thing of storage.list()) things.push(thing);
  return things;
}

function partsOf(bytes: Buffer) {
  const count = Math.ceil(bytes.length / partBytes);
  return Array.from({ length: count }, (_, index) => {
    const offset = index * partBytes;
    const content = bytes.subarray(offset, offset + partBytes);
    return { part: { index, offset, length: content.length }, content };
  });
}

async function writeAll(storage: Storage, unfinished: Unfinished, bytes: Buffer): Promise<string[]> {
  const tags = partsOf(bytes)
    .toReversed()
    .map(async ({ part, content }) =>
      ok(await storage.writePart(unfinished, part, pieces(content), `tag-${part.index}`)),
    );
  return (await Promise.all(tags)).toReversed();
}

describe.each(places)('the storage %s', (_, open) => {
  let place: Place;
  let storage: Storage;
  beforeAll(async () => {
    place = await open();
    ({ storage } = place);
  });
  afterAll(() => place.close());

  test('says that it can be used', async () => {
    await storage.check();
  });

  test('says whose files lie there, and lists no file for it', async () => {
    expect(await storage.readNote(ownerName)).toBeUndefined();
    await storage.writeNote(ownerName, 'the first');
    await storage.writeNote(ownerName, 'the second');
    expect(await storage.readNote(ownerName)).toBe('the second');
    expect(await list(storage)).toEqual([]);
  });

  test('makes one object of parts that arrive in any order, and at once', async () => {
    const bytes = randomBytes(2 * partBytes + 12_345);
    const unfinished = ok(await storage.begin('whole.exe', bytes.length));
    expect(await storage.sizeOf('whole.exe')).toBeUndefined();
    const tags = await writeAll(storage, unfinished, bytes);
    expect(await storage.sizeOf('whole.exe')).toBeUndefined();
    expect(await storage.finish(unfinished, tags)).toBeUndefined();
    expect(await storage.sizeOf('whole.exe')).toBe(bytes.length);
    expect(sum(await all(await storage.read('whole.exe')))).toBe(sum(bytes));
    expect((await list(storage)).map((thing) => thing.key)).toEqual(['whole.exe']);

    // again, as after a stop between this and the database
    expect(await storage.finish(unfinished, tags)).toBeUndefined();
    const { part, content } = partsOf(bytes)[0]!;
    expect(await storage.writePart(unfinished, part, pieces(content), 'x')).toMatchObject({
      failure: 'WRONG_STATE',
    });
    await storage.abandon(unfinished);
    expect(await storage.sizeOf('whole.exe')).toBe(bytes.length);
    await storage.remove('whole.exe');
    expect(await storage.sizeOf('whole.exe')).toBeUndefined();
    await storage.remove('whole.exe');
  });

  test('replaces a part that is sent again, and keeps nothing of one that broke off', async () => {
    const bytes = randomBytes(partBytes + 1000);
    const unfinished = ok(await storage.begin('again.exe', bytes.length));
    const [first, second] = partsOf(bytes);
    const broken = storage.writePart(unfinished, first!.part, pieces(first!.content, 2 * MiB), 'a');
    await expect(broken).rejects.toThrow('The sender is gone');
    ok(await storage.writePart(unfinished, first!.part, pieces(randomBytes(partBytes)), 'b'));
    const tags = [
      ok(await storage.writePart(unfinished, first!.part, pieces(first!.content), 'c')),
      ok(await storage.writePart(unfinished, second!.part, pieces(second!.content), 'd')),
    ];
    expect(await storage.finish(unfinished, tags)).toBeUndefined();
    expect(sum(await all(await storage.read('again.exe')))).toBe(sum(bytes));
    await storage.remove('again.exe');
  });

  test('has nothing left of what was given up', async () => {
    const bytes = randomBytes(partBytes);
    const unfinished = ok(await storage.begin('given-up.exe', bytes.length));
    const [{ part, content }] = partsOf(bytes) as [ReturnType<typeof partsOf>[number]];
    ok(await storage.writePart(unfinished, part, pieces(content), 'a'));
    expect(await list(storage)).toMatchObject([{ key: 'given-up.exe', unfinished: { key: 'given-up.exe' } }]);
    await storage.abandon(unfinished);
    await storage.abandon(unfinished);
    expect(await list(storage)).toEqual([]);
    expect(await storage.writePart(unfinished, part, pieces(content), 'a')).toMatchObject({
      failure: 'WRONG_STATE',
    });
  });

  test('gives up what the list says is unfinished', async () => {
    ok(await storage.begin('orphan.exe', 1000));
    const [found] = await list(storage);
    expect(found!.modifiedAt.getTime()).toBeGreaterThan(Date.now() - 60_000);
    await storage.abandon(found!.unfinished!);
    expect(await list(storage)).toEqual([]);
  });

  test.each([0, 1, 60_000, 8 * MiB - 1, 8 * MiB, 8 * MiB + 1, 17 * MiB])(
    'stores a stream of %i bytes whose size it was not told',
    async (size) => {
      const bytes = randomBytes(size);
      // what is handed over belongs to the storage
      expect(await storage.put('stream.zip', pieces(Buffer.from(bytes)))).toBe(size);
      expect(sum(await all(await storage.read('stream.zip')))).toBe(sum(bytes));
      expect(await storage.sizeOf('stream.zip')).toBe(size);
      await storage.remove('stream.zip');
    },
  );

  test.each([100_000, 10 * MiB])('keeps nothing of a stream that breaks off at %i', async (failAt) => {
    const put = storage.put('broken.zip', pieces(randomBytes(17 * MiB), failAt));
    await expect(put).rejects.toThrow('The sender is gone');
    expect(await list(storage)).toEqual([]);
  });

  test('reads ranges, first and last byte included', async () => {
    const bytes = randomBytes(100_000);
    ok(await storage.put('ranges.zip', pieces(bytes)));
    for (const [start, end] of [
      [0, 0],
      [0, 99_999],
      [99_999, 99_999],
      [500, 70_000],
    ] as const) {
      const read = await all(await storage.read('ranges.zip', { start, end }));
      expect(sum(read)).toBe(sum(bytes.subarray(start, end + 1)));
    }
    expect(await storage.read('nothing.zip')).toBeUndefined();
    await storage.remove('ranges.zip');
  });

  test('lets go of what a client stopped reading', async () => {
    ok(await storage.put('half.zip', pieces(randomBytes(10 * MiB))));
    for (let i = 0; i < 30; i++) (await storage.read('half.zip'))!.destroy();
    expect((await all(await storage.read('half.zip'))).length).toBe(10 * MiB);
    await storage.remove('half.zip');
  });
});

describe('the disk', () => {
  test.each(['../outside', 'a/b', '', '.hidden', 'incoming', 'a\0b'])('takes no key like %j', async (key) => {
    const { storage, close } = await onDisk();
    await expect(storage.put(key, pieces(randomBytes(10)))).rejects.toThrow();
    await expect((async () => storage.read(key))()).rejects.toThrow();
    await close();
  });

  test('lists nothing under a name that it could not take', async () => {
    const folder = await newFolder();
    const storage = await openStorage({ kind: 'disk', folder });
    for (const name of [
      '.DS_Store',
      'my file.exe',
      'incoming/a.exe~b c',
      'incoming/a.exe~b~c',
      'incoming/~b',
    ])
      await writeFile(join(folder, name), 'x');
    await storage.begin('a.exe', 10);
    expect((await list(storage)).map((thing) => thing.key)).toEqual(['a.exe']);
  });

  const isRoot = process.getuid?.() === 0;
  test.skipIf(!isRoot)('says that it is full, and keeps nothing half-written [needs root]', async () => {
    const folder = await newFolder();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', folder]);
    try {
      const storage = await openStorage({ kind: 'disk', folder });
      expect(await storage.begin('large.exe', 20 * MiB)).toMatchObject({ failure: 'STORAGE_FULL' });
      expect(await storage.put('large.exe', pieces(randomBytes(20 * MiB)))).toMatchObject({
        failure: 'STORAGE_FULL',
      });
      expect(await list(storage)).toEqual([]);

      // room that was there at the beginning is gone when the part arrives
      expect(await storage.begin('last-byte.exe', 8 * MiB - 100_000)).toMatchObject({
        failure: 'STORAGE_FULL',
      });
      // no room is promised to two that begin at once
      const atOnce = await Promise.all(['one.exe', 'two.exe'].map((key) => storage.begin(key, 4 * MiB)));
      const begun = atOnce.flatMap((one) => (isFailure(one) ? [] : [one]));
      expect(begun.length).toBeLessThan(2);
      expect(await readdir(join(folder, 'incoming'))).toHaveLength(begun.length);
      await Promise.all(begun.map((one) => storage.abandon(one)));

      const unfinished = ok(await storage.begin('part.exe', 6 * MiB));
      const message = expect.stringContaining('uploads that are under way') as string;
      const second = () => storage.begin('second.exe', 4 * MiB);
      expect(await second()).toMatchObject({ failure: 'STORAGE_FULL', message });
      const paused = new Date(Date.now() - 2 * hourMs);
      await utimes(join(folder, 'incoming', `part.exe~${unfinished.token}`), paused, paused);
      const other = ok(await second());
      const first = { index: 0, offset: 0, length: MiB };
      // nor does it take what was promised to another meanwhile, once it goes on
      const going = () => storage.writePart(unfinished, first, pieces(randomBytes(MiB)), 'a');
      for (const answer of await Promise.all(Array.from({ length: 6 }, going)))
        expect(answer).toMatchObject({ failure: 'STORAGE_FULL', message });
      await storage.abandon(other);
      ok(await storage.put('other.exe', pieces(randomBytes(5 * MiB))));
      const part = { index: 0, offset: 0, length: 6 * MiB };
      expect(await storage.writePart(unfinished, part, pieces(randomBytes(6 * MiB)), 'a')).toMatchObject({
        failure: 'STORAGE_FULL',
      });
      await storage.abandon(unfinished);
      expect(await readdir(join(folder, 'incoming'))).toEqual([]);
      expect((await list(storage)).map((thing) => thing.key)).toEqual(['other.exe']);
    } finally {
      execFileSync('umount', ['-l', folder]);
    }
  });
});

describe('S3', () => {
  test('has another part than was recorded, by a request that it answered late: all are sent again', async () => {
    const { storage, close } = await onS3();
    const bytes = randomBytes(partBytes + 10);
    const unfinished = ok(await storage.begin('late.exe', bytes.length));
    const tags = await writeAll(storage, unfinished, bytes);
    const [{ part, content }] = partsOf(bytes) as [ReturnType<typeof partsOf>[number]];
    ok(await storage.writePart(unfinished, part, pieces(randomBytes(content.length)), 'late'));
    expect(await storage.finish(unfinished, tags)).toMatchObject({ failure: 'WRONG_STATE' });
    expect(await storage.sizeOf('late.exe')).toBeUndefined();
    await storage.abandon(unfinished);
    await close();
  });

  test('is out of reach: that is said, and of the storage', async () => {
    const storage = await openStorage({
      kind: 's3',
      bucket: 'nowhere',
      prefix: '',
      endpoint: 'http://127.0.0.1:9',
      region: 'us-east-1',
      redirect: false,
    });
    await expect(storage.begin('a', 10)).rejects.toThrow(
      'The storage s3://nowhere/ at http://127.0.0.1:9 cannot',
    );
    await expect(storage.check()).rejects.toThrow();
    expect('signedUrl' in storage).toBe(false);
    storage.close();
  });

  test('has what was stored although the answer was lost: the client asks again, and it is finished', async () => {
    const s3 = await startFakeS3();
    const forgetful = await openStorage({ ...(await newBucket(false)), endpoint: s3.endpoint });
    s3.mood = 'unheard';
    const bytes = randomBytes(9 * MiB);
    expect(await forgetful.put('whole.exe', pieces(bytes))).toBe(bytes.length);
    expect(sum(await all(await forgetful.read('whole.exe')))).toBe(sum(bytes));
    forgetful.close();
    await s3.close();
  });

  test('gets a part again whose connection broke', async () => {
    const s3 = await startFakeS3();
    const storage = await openStorage({ ...(await newBucket(false)), endpoint: s3.endpoint });
    s3.mood = 'breaks';
    expect(await storage.put('again.exe', pieces(randomBytes(MiB)))).toBe(MiB);
    expect(s3.mood).toBe('well');
    storage.close();
    await s3.close();
  });

  test('hangs in a completion, and then fails or refuses: that is said at the next look', async () => {
    const hang = async (mood: 'fails' | 'refuses') => {
      const s3 = await startFakeS3();
      const storage = await openStorage({ ...(await newBucket(false)), endpoint: s3.endpoint });
      const bytes = randomBytes(MiB);
      const unfinished = ok(await storage.begin('hangs.exe', bytes.length));
      const tags = await writeAll(storage, unfinished, bytes);
      s3.hangsThen = mood;
      await expect(storage.finish(unfinished, tags)).rejects.toThrow('cannot be used');
      storage.close();
      await s3.close();
    };
    await Promise.all([hang('fails'), hang('refuses')]);
  }, 20_000);

  test('gives an address that works without keys, with the headers asked for', async () => {
    const { storage, close } = await onS3();
    const bytes = randomBytes(1000);
    ok(await storage.put('a.zip', pieces(bytes)));
    const url = await storage.signedUrl!('a.zip', {
      contentType: 'application/octet-stream',
      contentDisposition: 'attachment; filename="App.zip"',
    });
    const response = await fetch(url, { headers: { range: 'bytes=10-19' } });
    expect(response.status).toBe(206);
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="App.zip"');
    expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes.subarray(10, 20));
    await storage.remove('a.zip');
    await close();
  });

  test('gives an address that works although the clock of the server is wrong', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 20 * 60_000 });
    try {
      const { storage, close } = await onS3();
      ok(await storage.put('late.zip', pieces(randomBytes(1000))));
      const url = await storage.signedUrl!('late.zip', { contentType: 'a/b', contentDisposition: 'inline' });
      expect((await fetch(url)).status).toBe(200);
      await storage.remove('late.zip');
      await close();
    } finally {
      vi.useRealTimers();
    }
  });

  test('answers others while hundreds of clients read slowly', async () => {
    const s3 = await startFakeS3();
    const storage = await openStorage({ ...(await newBucket(false)), endpoint: s3.endpoint });
    ok(await storage.put('large.exe', pieces(randomBytes(MiB))));
    s3.mood = 'stalls';
    const reads = await Promise.all(Array.from({ length: 210 }, () => storage.read('large.exe')));
    expect(await storage.sizeOf('large.exe')).toBe(MiB);
    for (const read of reads) read!.destroy();
    storage.close();
    await s3.close();
  });

  test('has no parts of what was given up while a part was arriving', async () => {
    const config = await newBucket(false);
    const client = connect(config);
    const storage = await openStorage(config);
    const unfinished = ok(await storage.begin('a.exe', partBytes));
    const part = { index: 0, offset: 0, length: partBytes };
    const writing = storage.writePart(unfinished, part, pieces(randomBytes(partBytes)), '');
    await storage.abandon(unfinished);
    await writing;
    await storage.abandon(unfinished);
    const parts = client.send(
      new ListPartsCommand({ Bucket: config.bucket, Key: 'a.exe', UploadId: unfinished.token }),
    );
    await expect(parts).rejects.toThrow();
    client.destroy();
    storage.close();
  });
});

test('a folder of binaries is closed to other accounts, also one that was open, and so is each file', async () => {
  const folder = await newFolder();
  const binaries = join(folder, 'binaries');
  await mkdir(binaries);
  await chmod(binaries, 0o2755);
  const storage = await openStorage({ kind: 'disk', folder: binaries });
  ok(await storage.put('whole.exe', pieces(randomBytes(100))));
  const arriving = ok(await storage.begin('parts.exe', 5));
  const part = { index: 0, offset: 0, length: 5 };
  ok(await storage.writePart(arriving, part, pieces(randomBytes(5)), 'tag'));
  ok(await storage.finish(arriving, ['tag']));
  const modeOf = async (...names: string[]) => (await stat(join(binaries, ...names))).mode & 0o7777;
  expect(await modeOf(), 'files keep the group of the folder').toBe(0o2750);
  expect(await modeOf('incoming')).toBe(0o2750);
  expect(await modeOf('whole.exe')).toBe(0o640);
  expect(await modeOf('parts.exe')).toBe(0o640);
});

test('a database that does not answer makes no storage unavailable', async () => {
  const storage = await openStorage({ kind: 'disk', folder: await newFolder() });
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => lines.push(line) });
  const watch = watchStorage({ storage, log }, () => new Promise(() => undefined));
  expect(await watch.look()).toBe(true);
  expect(lines).toEqual([]);
  watch.stop();
});

test('a storage that hangs has one request under way, however often it is looked at', async () => {
  const storage = await openStorage({ kind: 'disk', folder: await newFolder() });
  let asked = 0;
  storage.check = () => {
    asked++;
    return new Promise(() => undefined);
  };
  const watch = watchStorage({ storage, log: pino({ level: 'silent' }) }, () => Promise.resolve());
  expect([await watch.look(), await watch.look(), asked]).toEqual([false, false, 1]);
  watch.stop();
});
