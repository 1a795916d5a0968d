import { describe, expect, test, vi } from 'vitest';
import type { Release } from '../../../contract/releases.ts';
import type { UploadState } from '../../../contract/uploads.ts';
import { ApiError } from '../../api-error.ts';
import type { UploadRecord } from './upload-engine.ts';
import { createUploadList, type Upload } from './upload-list.ts';
import type { BuildFields, Transport } from './upload-transport.ts';

const megabyte = 1_048_576;
const chunkSize = 5 * megabyte;
const fields = { version: '1.0.0', platform: 'win32', channel: 'stable' } as BuildFields;
const release = { id: 'r1', version: '1.0.0' } as Release;

/** A file that reports a large size without having it. */
const fileOfSize = (size: number, name = 'App.EXE') => {
  const file = new File(['MZ'], name, { lastModified: 1000 });
  Object.defineProperty(file, 'size', { value: size });
  return { file, handle: null };
};

const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.throwIfAborted();
    signal.addEventListener('abort', () => reject(new ApiError(0, 'Upload cancelled')));
  });

const stateWith = (stored: Iterable<number>): UploadState => ({
  uploadId: 'u1',
  fileKey: 'k',
  fileName: 'App.exe',
  fileSize: 40 * megabyte,
  chunkSize,
  totalChunks: 8,
  received: [...stored],
  status: 'open',
  releaseId: null,
});

/** A server in memory and a browser's storage: what survives a reload is in `kept` and `stored`. */
function world() {
  const kept = new Map<string, UploadRecord>();
  const stored = new Set<number>();
  const hashed: (number | null)[] = [];
  const transport = {
    direct: vi.fn<Transport['direct']>(() => Promise.resolve(release)),
    prepare: vi.fn<Transport['prepare']>(({ blob }) =>
      Promise.resolve({
        uploadId: 'u1',
        fileKey: 'k',
        chunkSize,
        totalChunks: Math.ceil(blob.size / chunkSize),
      }),
    ),
    chunk: vi.fn<Transport['chunk']>((_, index) => Promise.resolve(void stored.add(index))),
    complete: vi.fn<Transport['complete']>(() => Promise.resolve(release)),
    state: vi.fn<Transport['state']>(() => Promise.resolve(stateWith(stored))),
    cancel: vi.fn<Transport['cancel']>(() => Promise.resolve()),
  };
  let at = 0;
  const page = () => {
    let uploads: readonly Upload[] = [];
    const secondsLeft: number[] = [];
    const onDone = vi.fn();
    const list = createUploadList({
      transport,
      hashFile: (_, from) => {
        hashed.push(from?.offset ?? null);
        return Promise.resolve('hash');
      },
      records: {
        all: () => Promise.resolve([...kept.values()]),
        save: (record) => Promise.resolve(void kept.set(record.id, record)),
        remove: (id) => Promise.resolve(void kept.delete(id)),
      },
      claim: () => Promise.resolve(() => undefined),
      now: () => (at += 500),
      onChange: (now) => {
        uploads = now;
        secondsLeft.push(...now.map(({ pace }) => pace.secondsLeft ?? 0));
      },
      onDone,
    });
    const status = async (wanted: Upload['status']) => {
      await expect.poll(() => uploads[0]?.status).toBe(wanted);
      return uploads[0]!;
    };
    return { list, onDone, status, secondsLeft, first: () => uploads[0]! };
  };
  /** Starts an upload of so many megabytes in a page. */
  const begin = (megabytes: number) => {
    const here = page();
    return { ...here, id: here.list.start(fileOfSize(megabytes * megabyte), fields, 'me') };
  };
  /** The chunks that were sent. */
  const sent = () => transport.chunk.mock.calls.map(([, index]) => index);
  return { kept, stored, hashed, transport, page, begin, sent };
}

describe('how a file goes', () => {
  test('up to 20 MB in one request', async () => {
    const { transport, kept, begin } = world();
    const { status, onDone } = begin(20);
    await status('done');
    expect(transport.direct).toHaveBeenCalledOnce();
    expect(transport.direct.mock.calls[0]![0].name).toBe('App.EXE');
    expect(transport.prepare).not.toHaveBeenCalled();
    expect(onDone.mock.calls[0]![1]).toBe(release);
    expect(kept.size).toBe(0);
  });

  test('above that in chunks, with the hash at the end', async () => {
    const { transport, page, stored } = world();
    const { list, status, secondsLeft } = page();
    list.start(fileOfSize(20 * megabyte + 1), fields, 'me');
    expect((await status('done')).done).toBe(20 * megabyte + 1);
    expect(Math.max(...secondsLeft), 'known while it is sent').toBeGreaterThan(0);
    expect(transport.direct).not.toHaveBeenCalled();
    expect([...stored].toSorted()).toEqual([0, 1, 2, 3, 4]);
    expect(transport.complete.mock.calls[0]!.slice(1, 3)).toEqual([fields, 'hash']);
  });

  test('switches to chunks at 413, says so, and hashes once', async () => {
    const { transport, hashed, begin } = world();
    transport.direct.mockRejectedValue(new ApiError(413, 'File too large.'));
    const { status } = begin(9);
    expect((await status('done')).note).toBe('File too large.');
    expect(transport.chunk).toHaveBeenCalledTimes(2);
    expect(hashed).toHaveLength(1);
  });

  test('corrected after a refusal at the end: what the server has is not sent again', async () => {
    const { transport, page, hashed } = world();
    transport.complete.mockRejectedValueOnce(
      new ApiError(409, 'There is 1.0.0 already.', { code: 'ALREADY_EXISTS' }),
    );
    const { list, status } = page();
    const file = fileOfSize(40 * megabyte);
    const id = list.start(file, fields, 'me');
    await status('failed');
    const corrected = { ...fields, version: '1.0.1' };
    expect(list.start(file, corrected, 'me', id)).toBe(id);
    expect((await status('done')).fields).toEqual(corrected);
    expect(transport.prepare).toHaveBeenCalledTimes(1);
    expect(transport.chunk).toHaveBeenCalledTimes(8);
    expect(hashed).toHaveLength(1);
    expect(transport.complete.mock.calls[1]![1]).toEqual(corrected);
  });

  test('corrected with another file: the one before is cancelled', async () => {
    const { transport, begin } = world();
    transport.complete.mockRejectedValueOnce(new ApiError(422, 'Not a program.', { code: 'RULE_VIOLATED' }));
    const { list, status, id } = begin(40);
    await status('failed');
    expect(list.start(fileOfSize(41 * megabyte), fields, 'me', id)).not.toBe(id);
    await status('done');
    expect(transport.cancel).toHaveBeenCalledTimes(1);
  });

  test('what was sent whole in one request may be a release, where its answer is lost', async () => {
    const { transport, begin } = world();
    let lose = (_error: ApiError) => {};
    transport.direct.mockImplementation((_, __, ___, { onSent }) => {
      onSent?.(megabyte + 400);
      return new Promise((_resolve, reject) => (lose = reject));
    });
    const { list, status, first, id } = begin(1);
    await expect.poll(() => first()).toMatchObject({ status: 'running', phase: 'finishing' });
    lose(new ApiError(0, 'Network error during upload'));
    expect((await status('failed')).note).toMatch(/^The server may have made the release already/);
    void list.resume(id);
    expect(first().note).toBeNull();
    await expect.poll(() => transport.direct).toHaveBeenCalledTimes(2);
    lose(new ApiError(409, 'There is 1.0.0 already.', { code: 'ALREADY_EXISTS' }));
    expect((await status('failed')).note).toBeNull();
    list.cancel(id);
    expect(first().message).toBe('Upload cancelled');
    const other = list.start(fileOfSize(megabyte), fields, 'me', id);
    await expect.poll(() => first().phase).toBe('finishing');
    lose(new ApiError(0, 'Network error during upload'));
    await status('failed');
    list.cancel(other);
    expect(first().message).toMatch(/^Upload cancelled. The server may have made the release already/);
  });

  test('several concurrently', async () => {
    const { page, transport } = world();
    const { list, onDone } = page();
    list.start(fileOfSize(60 * megabyte, 'a.exe'), fields, 'me');
    list.start(fileOfSize(1 * megabyte, 'b.exe'), fields, 'me');
    await expect.poll(() => onDone).toHaveBeenCalledTimes(2);
    expect(transport.complete).toHaveBeenCalledOnce();
    expect(transport.direct).toHaveBeenCalledOnce();
  });
});

describe('what goes wrong', () => {
  test('a refusal is shown, and may be tried again', async () => {
    const { transport, begin } = world();
    transport.prepare.mockRejectedValueOnce(
      new ApiError(409, 'Version 1.0.0 exists already', { code: 'ALREADY_EXISTS' }),
    );
    const { list, status, id } = begin(30);
    expect((await status('failed')).message).toBe('Version 1.0.0 exists already');
    void list.resume(id);
    await status('done');
  });

  test('a file that the server does not take is not asked for again after a reload', async () => {
    const { transport, page, kept } = world();
    transport.complete.mockRejectedValueOnce(
      new ApiError(422, 'The content is not a Windows program', { code: 'RULE_VIOLATED' }),
    );
    const before = page();
    before.list.start(fileOfSize(30 * megabyte), fields, 'me');
    await before.status('failed');
    expect(kept.size).toBe(0);
    const after = page();
    await after.list.restore('me');
    expect(after.first()).toBeUndefined();
  });

  test('a file that was sent at a busy moment is still known after a reload', async () => {
    const { transport, page, kept } = world();
    transport.direct.mockRejectedValueOnce(new ApiError(429, 'Too many requests'));
    const before = page();
    before.list.start(fileOfSize(megabyte), fields, 'me');
    await before.status('failed');
    expect(kept.size).toBe(1);
  });

  test('what has no words of its own is an upload that failed', async () => {
    const { transport, begin } = world();
    transport.direct.mockRejectedValue(new Error(''));
    const { status } = begin(1);
    expect((await status('failed')).message).toBe('Upload failed');
  });

  test('a lost connection is waited for, and only what is missing is sent', async () => {
    const { transport, stored, begin, sent } = world();
    let broken = true;
    transport.chunk.mockImplementation((_, index) => {
      if (broken && index >= 2) return Promise.reject(new ApiError(0, 'Network error during upload'));
      stored.add(index);
      return Promise.resolve();
    });
    const { list, status } = begin(30);
    expect((await status('waiting')).message).toMatch(/^Failed to upload chunk \d\/6$/);
    broken = false;
    transport.chunk.mockClear();
    list.retryWaiting();
    await status('done');
    expect(sent()).toEqual([2, 3, 4, 5]);
  });

  test('a lost connection is waited for also before the first chunk, but not by a file that is sent in one request', async () => {
    const { transport, page } = world();
    const lost = new ApiError(0, 'Network error during upload');
    transport.prepare.mockRejectedValueOnce(lost);
    const { list, status } = page();
    list.start(fileOfSize(30 * megabyte), fields, 'me');
    expect((await status('waiting')).message).toBe('Network error during upload');
    list.retryWaiting();
    await status('done');
    transport.direct.mockRejectedValueOnce(lost);
    const other = page();
    other.list.start(fileOfSize(megabyte), fields, 'me');
    await other.status('failed');
  });

  test('a proxy that lets nothing through is waited for, also after a reload, and nothing is sent twice', async () => {
    const { transport, stored, page, begin, kept, sent } = world();
    const closed = new ApiError(407, 'Request failed with status 407');
    transport.chunk.mockImplementation((_, index) => {
      if (index >= 2) return Promise.reject(closed);
      stored.add(index);
      return Promise.resolve();
    });
    const { list, status } = begin(30);
    await status('waiting');
    list.pauseAll('');
    expect(kept.size).toBe(1);
    transport.chunk.mockReset().mockResolvedValue();
    const after = page();
    await after.list.restore('me');
    transport.state.mockRejectedValueOnce(new ApiError(404, 'Request failed with status 404'));
    void after.list.resume([...kept.keys()][0]!, fileOfSize(30 * megabyte));
    await after.status('waiting');
    after.list.retryWaiting();
    await after.status('done');
    expect(transport.prepare).toHaveBeenCalledTimes(1);
    expect(sent()).toEqual([2, 3, 4, 5]);
  });

  test('what is too large for a proxy is not sent again by itself', async () => {
    const { transport, begin } = world();
    transport.chunk.mockRejectedValue(new ApiError(413, 'Request failed with status 413'));
    const { status } = begin(30);
    await status('failed');
  });

  test('an upload whose chunks the storage loses sends all of them again, then fails, and can be tried again', async () => {
    const { transport, stored, begin } = world();
    transport.complete.mockImplementation(() => {
      stored.clear();
      return Promise.reject(new ApiError(409, 'Chunks lost', { code: 'CHUNKS_LOST' }));
    });
    const { list, status, id } = begin(30);
    for (let time = 0; time < 2; time++) {
      await status('waiting');
      list.retryWaiting();
    }
    expect((await status('failed')).message).toBe('Chunks lost');
    expect(transport.chunk).toHaveBeenCalledTimes(18);
    transport.complete.mockReset();
    void list.resume(id);
    await status('done');
    expect(transport.chunk).toHaveBeenCalledTimes(24);
  });

  test('a file that can no longer be read must be chosen again', async () => {
    const { transport, page } = world();
    transport.chunk.mockRejectedValue(new ApiError(0, 'Network error during upload'));
    const { list, status } = page();
    const chosen = fileOfSize(30 * megabyte);
    chosen.file.slice = () =>
      ({ arrayBuffer: () => Promise.reject(new Error('NotReadable')) }) as unknown as Blob;
    list.start(chosen, fields, 'me');
    expect((await status('needs-file')).message).toMatch(/Choose it again if it is unchanged, or cancel/);
  });

  test('a session that ended pauses it', async () => {
    const { transport, begin } = world();
    transport.chunk.mockRejectedValue(new ApiError(401, 'Authentication failed - please log in again'));
    const { status } = begin(30);
    await status('paused');
  });
});

describe('actions of the user', () => {
  test('pause finishes the chunks in progress, so that resume sends nothing twice', async () => {
    const { transport, stored, begin, sent } = world();
    const arrive: (() => void)[] = [];
    transport.chunk.mockImplementation(async (_, index) => {
      await new Promise<void>((resolve) => arrive.push(resolve));
      stored.add(index);
    });
    const { list, status, first, id } = begin(40);
    await expect.poll(() => arrive).toHaveLength(6);
    list.pause(id);
    expect(first().status).toBe('pausing');
    void list.resume(id);
    expect(first().status).toBe('pausing');
    for (const go of arrive) go();
    expect((await status('paused')).done).toBe(30 * megabyte);
    transport.chunk.mockClear().mockResolvedValue();
    void list.resume(id);
    await status('done');
    expect(sent()).toEqual([6, 7]);
  });

  test('a pause after the last chunk keeps the upload from being completed before it is resumed', async () => {
    const { transport, stored, begin } = world();
    let arrive = () => {};
    transport.chunk.mockImplementation(async (_, index) => {
      if (index === 4) await new Promise<void>((resolve) => (arrive = resolve));
      stored.add(index);
    });
    const { list, status, id } = begin(25);
    await expect.poll(() => stored.size).toBe(4);
    list.pause(id);
    arrive();
    await status('paused');
    expect(transport.complete).not.toHaveBeenCalled();
    void list.resume(id);
    await status('done');
    expect(transport.chunk).toHaveBeenCalledTimes(5);
  });

  test('a second pause stops immediately, resume sends the rest', async () => {
    const { transport, stored, begin, sent } = world();
    transport.chunk.mockImplementation((_, index, __, { signal }) => {
      if (index >= 3) return untilAborted(signal);
      stored.add(index);
      return Promise.resolve();
    });
    const { list, status, id } = begin(40);
    await expect.poll(() => stored.size).toBe(3);
    list.pause(id);
    expect((await status('pausing')).done).toBe(15 * megabyte);
    list.pause(id);
    expect((await status('paused')).done).toBe(15 * megabyte);
    transport.chunk.mockReset().mockResolvedValue();
    void list.resume(id);
    await status('done');
    expect(sent()).toEqual([3, 4, 5, 6, 7]);
    expect(transport.prepare).toHaveBeenCalledOnce();
  });

  test('cancel tells the server and keeps nothing', async () => {
    const { transport, kept, begin } = world();
    transport.chunk.mockImplementation((_, __, ___, { signal }) => untilAborted(signal));
    const { list, status, id } = begin(40);
    await expect.poll(() => transport.chunk).toHaveBeenCalled();
    list.cancel(id);
    expect((await status('cancelled')).message).toBe('Upload cancelled');
    expect(transport.cancel).toHaveBeenCalledWith('u1');
    expect(kept.size).toBe(0);
    expect(transport.chunk.mock.calls.filter(([, , , { signal }]) => !signal.aborted)).toEqual([]);
    expect(transport.complete).not.toHaveBeenCalled();
  });

  test('cancel that comes too late says so, since there is a release', async () => {
    const { transport, begin } = world();
    transport.complete.mockRejectedValueOnce(new ApiError(0, 'Network error during upload'));
    const late = 'This upload is complete. Delete its release instead.';
    transport.cancel.mockRejectedValueOnce(new ApiError(409, late));
    const { list, status, first, id } = begin(40);
    await status('waiting');
    list.cancel(id);
    await expect.poll(() => first()).toMatchObject({ status: 'cancelled', message: late });
  });

  test.each([
    [
      'the server cannot be asked',
      new ApiError(0, 'Network error during upload'),
      /may have made the release/,
    ],
    ['the server has cancelled it', undefined, /^Upload cancelled$/],
  ])('cancel after the answer of the last call was lost, where %s', async (_, error, message) => {
    const { transport, page } = world();
    transport.complete.mockRejectedValueOnce(new ApiError(0, 'Network error during upload'));
    if (error) transport.cancel.mockRejectedValueOnce(error);
    const { list, status, first } = page();
    const id = list.start(fileOfSize(40 * megabyte), fields, 'me');
    await status('waiting');
    list.cancel(id);
    expect(first()).toMatchObject({ status: 'cancelled', message: expect.stringMatching('may have made') });
    await expect.poll(() => first().message).toMatch(message);
  });
});

describe('after a reload', () => {
  /** An upload of 8 chunks of which three are stored, in a page that has been closed. */
  async function interrupted() {
    const here = world();
    here.transport.chunk.mockImplementation((_, index, __, { signal }) => {
      if (index >= 3) return untilAborted(signal);
      here.stored.add(index);
      return Promise.resolve();
    });
    const before = here.page();
    const id = before.list.start(fileOfSize(40 * megabyte), fields, 'me');
    await expect.poll(() => here.stored.size).toBe(3);
    before.list.pauseAll('gone');
    here.transport.chunk.mockReset().mockResolvedValue();
    return { ...here, id };
  }

  test('the same file is asked for, and only what is missing is sent', async () => {
    const { transport, page, hashed, id, kept, sent } = await interrupted();
    const { list, status } = page();
    await list.restore('me');
    expect(await status('needs-file')).toMatchObject({ done: 15 * megabyte, phase: 'uploading' });

    await list.resume(id, fileOfSize(41 * megabyte));
    expect((await status('needs-file')).message).toMatch(/not the file/);
    expect(transport.chunk).not.toHaveBeenCalled();

    await list.resume(id, fileOfSize(40 * megabyte));
    await status('done');
    expect(sent()).toEqual([3, 4, 5, 6, 7]);
    expect(hashed).toHaveLength(1);
    expect(kept.size).toBe(0);
  });

  test('it goes on by itself where the browser gives the file back', async () => {
    const { page, kept, id } = await interrupted();
    const getFile = () => Promise.resolve(fileOfSize(40 * megabyte).file);
    const handle = { kind: 'file', getFile } as unknown as FileSystemFileHandle;
    kept.set(id, { ...kept.get(id)!, handle });
    const { list, status } = page();
    await list.restore('me');
    await status('done');
  });

  test('the hash goes on where it was', async () => {
    const { page, kept, id, hashed } = await interrupted();
    kept.set(id, { ...kept.get(id)!, sha512: null, hash: { offset: 4096, state: new Uint8Array(1) } });
    const { list, status } = page();
    await list.restore('me');
    expect(await status('needs-file')).toMatchObject({ phase: 'hashing', done: 4096 });
    await list.resume(id, fileOfSize(40 * megabyte));
    await status('done');
    expect(hashed.at(-1)).toBe(4096);
  });

  test('an upload that was completed since needs nothing more', async () => {
    const { page, transport, stored } = await interrupted();
    transport.state.mockResolvedValue({ ...stateWith(stored), status: 'completed' });
    const { list, status } = page();
    await list.restore('me');
    await status('done');
    expect(transport.chunk).not.toHaveBeenCalled();
  });

  test('one that the server has deleted starts again', async () => {
    const { page, transport, id } = await interrupted();
    transport.state.mockRejectedValue(new ApiError(404, 'Upload not found', { code: 'NOT_FOUND' }));
    const { list, status } = page();
    await list.restore('me');
    await list.resume(id, fileOfSize(40 * megabyte));
    await status('done');
    expect(transport.prepare).toHaveBeenCalledTimes(2);
    expect(transport.chunk).toHaveBeenCalledTimes(8);
  });

  test('someone else’s upload stays theirs', async () => {
    const { page } = await interrupted();
    const { list, first } = page();
    await list.restore('another');
    expect(first()).toBeUndefined();
  });
});
