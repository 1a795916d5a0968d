import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { auditRoom } from '../../../tests/audit-room.ts';
import { makeCustomer } from '../../../tests/factories.ts';
import { startTestServer, type Api, type TestServer } from '../../../tests/harness.ts';
import { createChainWatch } from './watch.ts';
import { filePlace } from './kept-heads.ts';
import { newFolder } from '../../../tests/place.ts';

/* The head of the chain outside of the database and the data directory. */

let server: TestServer;

let api: Api;
const logged: string[] = [];
beforeEach(async () => {
  logged.length = 0;
  server = await startTestServer({ config: { logLevel: 'error' }, onLog: (line) => logged.push(line) });
  api = server.api(await server.signInAs('super_admin'));
  await fill(4);
});

/** After the start there are 6 entries. */
const { fill, head, putBackTo } = auditRoom(() => ({ server, api }));

describe('the head goes elsewhere too', () => {
  test('to a file, which is checked as well', async () => {
    const file = join(await newFolder(), 'head.json');
    const watch = createChainWatch(
      { ...server.context, config: { ...server.context.config, auditAnchor: { kind: 'file', file } } },
      server.auditKeys,
      60,
    );
    await watch.tick();
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({
      sequence: 6,
      at: server.clock.now().toISOString(),
    });
    const old = await head();
    await fill(1);
    await watch.tick();
    await putBackTo(old);
    await filePlace('x', join(server.context.config.dataDir, 'audit-head.json')).write(
      { ...old, mac: old.mac! },
      new Date(),
    );
    await watch.tick();
    expect(watch.state().broken!.problem).toContain(`as the head in ${file} says`);
    await makeCustomer(api);
    await watch.seal();
    expect(watch.state().state, 'whatever the data directory alone says').toBe('broken');
  });

  test('to an http receiver; one that fails is told', async () => {
    const got: unknown[] = [];
    let status = 204;
    const receiver = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk: Buffer) => (text += chunk.toString()));
      request.on('end', () => {
        got.push(JSON.parse(text));
        response.writeHead(status).end();
      });
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => receiver.once('listening', resolve));
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/heads`;
    const watch = createChainWatch(
      { ...server.context, config: { ...server.context.config, auditAnchor: { kind: 'http', url } } },
      server.auditKeys,
      60,
    );
    await watch.tick();
    const { mac } = await head();
    expect(got).toEqual([expect.objectContaining({ sequence: 6, mac: mac!.toString('hex') })]);
    status = 500;
    await watch.tick();
    expect(watch.state()).toMatchObject({
      state: 'whole',
      kept: [
        {},
        { place: 'the receiver of AUDIT_ANCHOR_URL', sequence: 6, error: 'The receiver answered 500' },
      ],
    });
    expect(logged.join()).toContain('could not be kept in the receiver of AUDIT_ANCHOR_URL');
    await new Promise((closed) => receiver.close(closed));
    await watch.tick();
    expect(watch.state().kept[1]!.error).toMatch(/^The receiver cannot be reached: .*ECONNREFUSED/);
  });

  test('to a receiver that hangs, without holding up the sealing', async () => {
    const receiver = createServer().listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/heads`;
    const watch = createChainWatch(
      { ...server.context, config: { ...server.context.config, auditAnchor: { kind: 'http', url } } },
      server.auditKeys,
      60,
    );
    let isOver = false;
    const round = watch.tick().finally(() => (isOver = true));
    await once(receiver, 'request');
    await makeCustomer(api);
    expect([await watch.seal(), isOver]).toEqual([1, false]);
    receiver.close().closeAllConnections();
    await round;
  });

  test('to a file whose folder exists, as that of a disk that is mounted', async () => {
    const file = join(await newFolder(), 'missing', 'head.json');
    const watch = createChainWatch(
      { ...server.context, config: { ...server.context.config, auditAnchor: { kind: 'file', file } } },
      server.auditKeys,
      60,
    );
    await watch.tick();
    expect(watch.state().kept[1]).toMatchObject({ at: null, error: expect.stringContaining('ENOENT') });
  });

  test('to the storage where that is S3, and is found there by a process with an empty data directory', async () => {
    const notes = new Map<string, string>();
    const storage = {
      ...server.context.storage,
      readNote: async (name: string) => notes.get(name),
      writeNote: async (name: string, text: string) => void notes.set(name, text),
    };
    const inS3 = {
      kind: 's3',
      bucket: 'b',
      prefix: '',
      endpoint: undefined,
      region: 'x',
      redirect: false,
    } as const;
    const watchWith = (dataDir: string) =>
      createChainWatch(
        { ...server.context, storage, config: { ...server.context.config, dataDir, storage: inS3 } },
        server.auditKeys,
        60,
      );
    await watchWith(server.context.config.dataDir).tick();
    const old = await head();
    await fill(2);
    await watchWith(server.context.config.dataDir).tick();
    await putBackTo(old);
    const fresh = watchWith(await newFolder());
    // a place that cannot be read for a moment is not overwritten meanwhile
    const read = vi.spyOn(storage, 'readNote').mockRejectedValue(new Error('SlowDown'));
    await fresh.begin();
    await fresh.tick();
    expect(fresh.state().kept).toContainEqual({
      place: 'the storage',
      sequence: 0,
      at: null,
      error: 'SlowDown',
    });
    read.mockRestore();
    await fresh.tick();
    expect(fresh.state().broken!.problem).toContain('as the head in the storage says');
    // nor does it then count as one that has found nothing
    logged.length = 0;
    vi.spyOn(storage, 'readNote').mockRejectedValue(new Error('SlowDown'));
    await fresh.tick();
    expect(fresh.state().state).toBe('broken');
    expect((await fresh.verify()).broken!.problem).toContain('as the head in the storage says');
    expect(fresh.state().state).toBe('broken');
    expect(logged.join()).not.toContain('whole again');
  });
});
