import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import { uploads } from '../../../contract/uploads.ts';
import { program } from '../../../tests/binaries.ts';
import {
  addressOf,
  eventually,
  isExplainedByLoad,
  seconds,
  startTestServer,
} from '../../../tests/harness.ts';
import { othersIn } from '../../../tests/rows.ts';
import { leftBy, MiB, uploader } from '../../../tests/uploading.ts';

const log: string[] = [];
const server = await startTestServer({ config: { logLevel: 'error' }, onLog: (line) => void log.push(line) });
const manager = await server.signInAs('binary_manager');
const api = server.api(manager);
const up = uploader(server.url, api, manager);
const { arriving } = leftBy(server);

/** A sender of the first chunk whose bytes the test gives out one by one. */
function slowSender(uploadId: string) {
  const path = addressOf(uploads.chunk, { params: { uploadId, index: '0' } });
  const request = httpRequest(server.url + path, {
    method: 'PUT',
    headers: { ...manager.headers, 'content-type': 'application/octet-stream', 'content-length': 8 * MiB },
  });
  const answer = new Promise<number | 'broken'>((resolve) => {
    request.on('response', (response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    request.on('error', () => resolve('broken'));
  });
  return { request, answer };
}

describe('a claim on a chunk', () => {
  const bytes = program(10 * MiB);
  const isClaimed = async (uploadId: string) => {
    const row = await server.db
      .selectFrom('upload_chunks')
      .select('claim')
      .where('upload_id', '=', uploadId)
      .where('index', '=', 0)
      .executeTakeFirst();
    return Boolean(row?.claim);
  };

  /** An attempt to lease a chunk that is claimed locks its row, and leaves its transaction there. */
  const isWanted = async (uploadId: string) => {
    const { rows } = await server.pool.query<{ wanted: boolean }>(
      "select xmax::text <> '0' as wanted from upload_chunks where upload_id = $1 and index = 0",
      [uploadId],
    );
    return rows[0]!.wanted;
  };

  /** An upload whose first chunk is being sent. */
  async function begun(sent = MiB) {
    const prepared = await up.prepare(bytes);
    const slow = slowSender(prepared.uploadId);
    slow.request.flushHeaders();
    slow.request.write(bytes.subarray(0, sent));
    await eventually(() => isClaimed(prepared.uploadId));
    return { prepared, slow };
  }

  test('ends at once with its connection', async () => {
    const { prepared, slow } = await begun();
    slow.request.destroy();
    expect(await slow.answer).toBe('broken');
    await eventually(async () => !(await isClaimed(prepared.uploadId)));
    expect((await up.state(prepared.uploadId)).body.data.received).toEqual([]);
    await up.sendAll(bytes, prepared);
    expect((await up.complete(bytes, prepared)).status).toBe(201);
  });

  test('is waited for, and the one who waits hears that the chunk is stored', async () => {
    const { prepared, slow } = await begun();
    expect(await isWanted(prepared.uploadId)).toBe(false);
    const second = up.chunk(prepared.uploadId, 0, Buffer.alloc(8 * MiB, 7));
    // one that came after the first had ended would replace the chunk
    await eventually(() => isWanted(prepared.uploadId));
    slow.request.end(bytes.subarray(MiB, 8 * MiB));
    expect(await slow.answer).toBe(200);
    expect((await second).body.data).toEqual({ index: 0, received: 1 });
    await up.chunk(prepared.uploadId, 1, up.pieces(bytes, prepared)[1]!);
    expect((await up.complete(bytes, prepared)).status).toBe(201);
  });

  test('is waited for by one who hangs up, which is no error of the service', async () => {
    const { prepared, slow } = await begun();
    const second = slowSender(prepared.uploadId);
    second.request.write(bytes.subarray(0, MiB));
    await eventually(() => isWanted(prepared.uploadId));
    slow.request.end(bytes.subarray(MiB, 8 * MiB));
    expect(await slow.answer).toBe(200);
    second.request.destroy();
    await up.chunk(prepared.uploadId, 1, up.pieces(bytes, prepared)[1]!);
    expect((await up.complete(bytes, prepared)).status).toBe(201);
    expect(log.filter((line) => !isExplainedByLoad(line))).toEqual([]);
  });

  test('of a sender that stalls is taken over, and the sender that wakes up writes nothing', async () => {
    // nothing may arrive once the clock has moved: it would renew the lease
    const { prepared, slow } = await begun(0);
    server.clock.advance(seconds(11));
    await up.sendAll(bytes, prepared);
    slow.request.end(Buffer.alloc(8 * MiB, 9));
    expect([409, 'broken']).toContain(await slow.answer);
    expect((await up.complete(bytes, prepared)).status).toBe(201);
  });

  test('made by a clock that was ahead ends when the clock is right again', async () => {
    const [prepared, other] = [await up.prepare(bytes), await up.prepare(bytes)];
    server.clock.advance(seconds(60));
    const slow = slowSender(prepared.uploadId);
    slow.request.flushHeaders();
    await eventually(() => isClaimed(prepared.uploadId));
    // a completion that ended with its process
    await server.db
      .updateTable('uploads')
      .set({ claim: randomUUID(), claimed_at: server.clock.now() })
      .where('upload_id', 'in', [prepared.uploadId, other.uploadId])
      .execute();
    server.clock.advance(-seconds(60));
    const others = await othersIn(server, 'uploads', 'upload_id', prepared.uploadId);
    await up.sendAll(bytes, prepared);
    expect(await othersIn(server, 'uploads', 'upload_id', prepared.uploadId)).toEqual(others);
    slow.request.end(Buffer.alloc(8 * MiB, 9));
    expect([409, 'broken']).toContain(await slow.answer);
    expect((await up.complete(bytes, prepared)).status).toBe(201);
  });

  test('is given to two connections at once that end the completion of a stopped process', async () => {
    const prepared = await up.prepare(bytes);
    await server.db
      .updateTable('uploads')
      .set({ claim: randomUUID(), claimed_at: new Date(server.clock.now().getTime() - seconds(11)) })
      .where('upload_id', '=', prepared.uploadId)
      .execute();
    const holder = await server.pool.connect();
    await holder.query('begin; lock table upload_chunks in share mode');
    const sent = up.sendAll(bytes, prepared);
    try {
      // one waits for the table and the other for the upload: if both had locked the upload, neither could end its claim
      await eventually(async () => {
        const { rows } = await server.pool.query<{ event: string }>(
          `select wait_event as event from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock' order by wait_event`,
        );
        return isDeepStrictEqual(
          rows.map(({ event }) => event),
          ['relation', 'transactionid'],
        );
      });
    } finally {
      await holder.query('commit');
      holder.release();
    }
    await sent;
    expect((await up.complete(bytes, prepared)).status).toBe(201);
  });

  test('keeps an upload from being completed', async () => {
    const prepared = await up.prepare(bytes);
    await up.sendAll(bytes, prepared);
    const slow = slowSender(prepared.uploadId);
    slow.request.write(bytes.subarray(0, MiB));
    await eventually(() => isClaimed(prepared.uploadId));
    const early = await up.complete(bytes, prepared);
    expect([early.status, early.body.error]).toEqual([
      409,
      '1 of 2 chunks are missing: 0. Some are still being sent.',
    ]);
    slow.request.end(bytes.subarray(MiB, 8 * MiB));
    expect(await slow.answer).toBe(200);
    expect((await up.complete(bytes, prepared)).status).toBe(201);
  });

  test('ends the completion of a process that froze: no bytes that it has not hashed become a release', async () => {
    const prepared = await up.prepare(bytes);
    await up.sendAll(bytes, prepared);
    const { storage } = server.context;
    const finish = storage.finish.bind(storage);
    vi.spyOn(storage, 'finish').mockImplementationOnce(async (...unfinished) => {
      server.clock.advance(seconds(11));
      await up.chunk(prepared.uploadId, 0, Buffer.alloc(8 * MiB, 9));
      return finish(...unfinished);
    });
    expect((await up.complete(bytes, prepared)).body.error).toMatch(/^The SHA-512 of what arrived/);
  });

  test('is of no use when the upload is cancelled meanwhile', async () => {
    const { prepared, slow } = await begun();
    expect((await up.cancel(prepared.uploadId)).status).toBe(204);
    slow.request.end(bytes.subarray(MiB, 8 * MiB));
    expect(await slow.answer).toBe(409);
    await eventually(async () => (await arriving()).every((name) => !name.startsWith(prepared.fileKey)));
  });
});
