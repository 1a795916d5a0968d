import { once } from 'node:events';
import { createServer, get, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createTestDatabase, eventually } from './harness.ts';
import { counted } from './load.ts';
import { startNginx } from './nginx.ts';
import { opened } from './opened.ts';
import { hasNginx } from './run-nginx.ts';
import { restartRolling } from './rolling-restart.ts';

test.skipIf(!hasNginx)(
  'a rolling restart behind nginx, as the docs set it up, loses no call and makes none twice [needs nginx]',
  async () => {
    const database = await createTestDatabase({ empty: true });
    const { seen, lost } = await restartRolling(database.url, 1, {
      settings: { DRAIN_SECONDS: '1' },
    });
    const { answered, refused, failed } = counted(seen);
    expect({ refused, failed, lost }).toEqual({ refused: 0, failed: [], lost: [] });
    expect(answered).toBeGreaterThan(100);
  },
);

/** The port of a process that answers so. */
async function processThat(answer: RequestListener): Promise<number> {
  const server = createServer(answer);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  opened.add(async () => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

/** The port of a process whose console has this script; whatever else is asked for has an answer. */
const processWith = (script: string) =>
  processThat((request, response) => {
    const isThere = !request.url!.startsWith('/assets/') || request.url === script;
    response.writeHead(isThere ? 200 : 404).end();
  });

test.skipIf(!hasNginx)(
  'nginx, as the docs set it up, hands on the many ranges of a large differential update [needs nginx]',
  async () => {
    const port = await processWith('/assets/main.js');
    const nginx = await startNginx([port, port]);
    // electron-updater asks for about 500 ranges at once
    const ranges = Array.from({ length: 500 }, (_, n) => `${123_000_000 + 2 * n}-${123_000_001 + 2 * n}`);
    const { status } = await fetch(nginx.url, { headers: { range: `bytes=${ranges.join(', ')}` } });
    expect(status).toBe(200);
  },
);

test.skipIf(!hasNginx)(
  'while two versions run behind nginx, the console of each gets its scripts from the one that has them [needs nginx]',
  async () => {
    const scripts = ['/assets/main-old.js', '/assets/main-new.js'] as const;
    const nginx = await startNginx([await processWith(scripts[0]), await processWith(scripts[1])]);
    const statusOf = async (path: string) => (await fetch(nginx.url + path)).status;
    for (const script of [...scripts, ...scripts, ...scripts]) expect(await statusOf(script)).toBe(200);
    expect(await statusOf('/assets/main-older.js'), 'that of no version').toBe(404);
  },
);

test.skipIf(!hasNginx)(
  'nginx, as the docs set it up, takes no more of a download than the machine does [needs nginx]',
  async () => {
    const part = Buffer.alloc(100_000);
    const size = 2000 * part.length;
    let taken = 0;
    function* parts() {
      for (; taken < size; taken += part.length) yield part;
    }
    const port = await processThat(({ url }, response) => {
      if (url === '/file') Readable.from(parts()).pipe(response);
      else response.end();
    });
    const nginx = await startNginx([port, port]);
    const download = get(`${nginx.url}/file`, (response) => void response.pause());
    opened.add(async () => void download.destroy());
    await eventually(async () => {
      const before = taken;
      await sleep(500);
      return before > 0 && taken === before;
    });
    // what the buffers of the connections hold
    expect(taken).toBeLessThan(size / 2);
  },
);

test.skipIf(!hasNginx)(
  'nginx, as the docs set it up, has the other process answer a validation that a frozen one was asked [needs nginx]',
  async () => {
    const frozen = await processThat(({ url }, response) => {
      if (url === '/healthz') response.end();
    });
    const awake = await processThat((_, response) => void response.end('valid'));
    const nginx = await startNginx([frozen, awake], { hurried: true });
    const validate = async () => {
      // far more than the 8 s of the docs, and less than what nginx waits without them
      const init = { method: 'POST', body: '{}', signal: AbortSignal.timeout(30_000) };
      return (await fetch(`${nginx.url}/api/licenses/validate`, init)).text();
    };
    expect(await Promise.all([validate(), validate()])).toEqual(['valid', 'valid']);
  },
);
