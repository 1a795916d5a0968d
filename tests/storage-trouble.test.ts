import { execFileSync } from 'node:child_process';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Release } from '../contract/releases.ts';
import { releases } from '../contract/releases.ts';
import { uploads } from '../contract/uploads.ts';
import type { StorageConfig } from '../server/config.ts';
import { sweepUploads } from '../server/jobs/upload-sweep.ts';
import { program } from './binaries.ts';
import { makeApiKey, makeLicense, validateOn, type MadeApiKey } from './factories.ts';
import { startFakeS3, type FakeS3 } from './fake-s3.ts';
import {
  checkedTime,
  eventually,
  patience,
  startTestServer,
  startTwin,
  type Api,
  type TestServer,
} from './harness.ts';
import { MiB, nextVersion, uploader, type Uploader } from './uploading.ts';
import { newFolder } from './place.ts';

/** The documented time limit of every call while the storage hangs. */
const answeredWithinMs = 10_000;

type Outcome = {
  status: number;
  code: string;
  error: string;
  retryAfter: string | null;
  cache: string | null;
};
type Work = { server: TestServer; api: Api; up: Uploader; key: MadeApiKey };

const bytes = program(3 * MiB);

async function begin(server: TestServer): Promise<Work> {
  const manager = await server.signInAs('super_admin');
  const api = server.api(manager);
  const key = await makeApiKey(api, { scopes: ['updates', 'validate'] });
  return { server, api, up: uploader(server.url, api, manager), key };
}

async function publish({ up }: Work): Promise<Release> {
  const answer = await up.direct({ version: nextVersion(), is_draft: 'false', file: bytes });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data;
}

function startDownload(work: Work, release: Release, init: RequestInit = {}, { url } = work.server) {
  const headers = { ...work.key.headers, ...(init.headers as Record<string, string>) };
  return fetch(url + new URL(release.fileUrl).pathname, { redirect: 'manual', ...init, headers });
}

async function download(...what: Parameters<typeof startDownload>) {
  const response = await startDownload(...what);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

function outcomeOf({ status, headers, text }: Awaited<ReturnType<typeof download>>): Outcome {
  const { code = '', error = '' } = (text ? JSON.parse(text) : {}) as Partial<Outcome>;
  return { status, code, error, retryAfter: headers.get('retry-after'), cache: headers.get('cache-control') };
}

const prepare = ({ api }: Work) =>
  api.call(uploads.prepare, {
    body: { fileName: 'App Setup.exe', fileSize: bytes.length, version: nextVersion() },
  });
const direct = ({ up }: Work) => up.direct({ version: nextVersion(), file: bytes });

/** Asserts that it ends, and returns how long it took. */
async function timed<T>(work: Promise<T>): Promise<[T, number]> {
  const from = performance.now();
  const result = await work;
  return [result, performance.now() - from];
}

function expectUnavailable(name: string, { status, code, error, retryAfter, cache }: Outcome) {
  expect([name, status, code]).toEqual([name, 503, 'UNAVAILABLE']);
  expect(error, name).toMatch(/storage/);
  expect(error, name).not.toMatch(/database/);
  expect(Number(retryAfter), name).toBeGreaterThan(0);
  expect(cache, name).toBe('no-store');
}

const readyz = async ({ url }: TestServer, query = '') => {
  const response = await fetch(`${url}/readyz${query}`);
  return [response.status, ((await response.json()) as { storage?: string }).storage];
};
const metric = async ({ url }: TestServer, name: string) =>
  new RegExp(`^${name} (.*)$`, 'm').exec(await (await fetch(`${url}/metrics`)).text())?.[1];

describe('a bucket', () => {
  let s3: FakeS3;
  let work: Work;
  let redirecting: TestServer;
  const log: string[] = [];

  beforeAll(async () => {
    process.env.AWS_ACCESS_KEY_ID ??= 'key';
    process.env.AWS_SECRET_ACCESS_KEY ??= 'secret';
    s3 = await startFakeS3();
    const storage: StorageConfig = {
      kind: 's3',
      bucket: 'releases',
      prefix: '',
      endpoint: s3.endpoint,
      region: 'us-east-1',
      redirect: false,
    };
    const server = await startTestServer({
      config: { storage, logLevel: 'warn' },
      onLog: (line) => log.push(line),
    });
    work = await begin(server);
    redirecting = await startTwin(server, { config: { storage: { ...storage, redirect: true } } });
    await sweepUploads(server.context, checkedTime(server));
  });
  afterAll(async () => {
    s3.mood = 'well';
    await redirecting.close();
    await work.server.close();
    await s3.close();
  });

  /** Everything that needs the storage, in parallel: the result of each call, and its duration. */
  async function callAll() {
    s3.mood = 'well';
    const [release, other] = [await publish(work), await publish(work)];
    await work.api.ok(releases.softDelete, { params: { releaseId: other.id }, body: { reason: 'Over' } });
    const open = await work.up.prepare(bytes);
    const [whole, cancelled] = [await work.up.prepare(bytes), await work.up.prepare(bytes)];
    await work.up.sendAll(bytes, whole);
    return {
      release,
      calls: {
        prepare: () => prepare(work),
        chunk: () => work.up.chunk(open.uploadId, 0, bytes),
        complete: () => work.up.complete(bytes, whole),
        direct: () => direct(work),
        download: () => download(work, release),
        range: () => download(work, release, { headers: { range: 'bytes=0-99' } }),
        ranges: () => download(work, release, { headers: { range: 'bytes=0-9,20-29' } }),
        redirect: () => download(work, release, {}, redirecting),
      },
      /** These leave what they cannot delete to the sweep. */
      removals: {
        cancel: () => work.up.cancel(cancelled.uploadId).then(({ status }) => status),
        'delete for good': () =>
          work.api
            .call(releases.deletePermanently, {
              params: { releaseId: other.id },
              body: { confirmation: 'PERMANENTLY DELETE', reason: 'Over' },
            })
            .then(({ status }) => status),
      },
    };
  }

  test('that takes requests and never answers: each call is 503 within ten seconds, and licensing goes on, also after a start', async () => {
    const license = await makeLicense(work.api);
    const { calls, removals } = await callAll();
    log.length = 0;
    s3.mood = 'silent';
    const sweeping = timed(
      sweepUploads(work.server.context, checkedTime(work.server)).catch((error: Error) => error.name),
    );
    const calling = Object.entries(calls).map(
      async ([name, call]) => [name, ...(await timed(call().then(outcomeOf)))] as const,
    );
    const removing = Object.entries(removals).map(
      async ([name, call]) => [name, ...(await timed(call()))] as const,
    );

    const { storage } = redirecting.context.config;
    const starting = startTwin(work.server, { config: { storage } });
    const [validated, validatedMs] = await timed(validateOn(work.server.api(work.key), license, 'ws-1'));
    expect(validated.code).toBe('VALID');
    expect(validatedMs).toBeLessThan(patience(5000));
    const started = await starting;
    expect((await validateOn(started.api(work.key), license, 'ws-1')).code).toBe('VALID');
    await eventually(async () => expect(await readyz(work.server)).toEqual([200, 'unavailable']));
    expect(await readyz(work.server, '?require=storage')).toEqual([503, undefined]);
    expect(await metric(work.server, 'lanyard_storage_up')).toBe('0');

    for (const [name, outcome, ms] of await Promise.all(calling)) {
      expectUnavailable(name, outcome);
      expect(ms, name).toBeLessThan(patience(answeredWithinMs));
    }
    for (const [name, status, ms] of await Promise.all(removing)) {
      expect([name, Math.floor(status / 100)]).toEqual([name, 2]);
      expect(ms, name).toBeLessThan(patience(answeredWithinMs));
    }
    const [swept, sweptMs] = await sweeping;
    expect(swept).toBe('StorageDown');
    expect(sweptMs).toBeLessThan(patience(answeredWithinMs));
    expect(log.filter((line) => /database/i.test(line))).toEqual([]);
    expect(log.filter((line) => line.includes('s3://releases/')).length).toBeGreaterThanOrEqual(7);

    s3.mood = 'well';
    for (const one of [work.server, started])
      await eventually(async () => expect(await readyz(one)).toEqual([200, 'ok']));
    await started.close();
  });

  test('that stops in the middle of a body: what was begun breaks off within ten seconds, the rest is 503', async () => {
    const { release, calls } = await callAll();
    s3.mood = 'stalls';
    const broken = (call: () => Promise<Response>) =>
      timed(call().then(async (r) => [r.status, await ended(r)]));
    const [whole, range, prepared, completed] = await Promise.all([
      broken(() => startDownload(work, release)),
      broken(() => startDownload(work, release, { headers: { range: `bytes=0-${2 * MiB}` } })),
      timed(calls.prepare().then(outcomeOf)),
      timed(calls.complete().then(outcomeOf)),
    ]);
    expect(whole[0]).toEqual([200, 'broken off']);
    expect(range[0]).toEqual([206, 'broken off']);
    expectUnavailable('prepare', prepared[0]);
    expectUnavailable('complete', completed[0]);
    for (const [, ms] of [whole, range, prepared, completed])
      expect(ms).toBeLessThan(patience(answeredWithinMs));
    s3.mood = 'well';
    expect((await download(work, release)).status).toBe(200);
  });

  test.each(['refuses', 'fails'] as const)(
    'that %s every request is 503, and nobody blames the database',
    async (mood) => {
      const { calls } = await callAll();
      log.length = 0;
      s3.mood = mood;
      for (const [name, call] of Object.entries(calls)) expectUnavailable(name, outcomeOf(await call()));
      expect(log.filter((line) => /database/i.test(line))).toEqual([]);
      expect(log.filter((line) => line.includes('s3://releases/')).length).toBeGreaterThanOrEqual(7);
      s3.mood = 'well';
    },
  );
});

/** How a response body ended. */
const ended = (response: Response) =>
  response.arrayBuffer().then(
    () => 'whole',
    () => 'broken off',
  );

describe('a disk', () => {
  let folder: string;
  let binaries: string;
  let work: Work;
  const log: string[] = [];
  beforeAll(async () => {
    folder = await newFolder();
    binaries = join(folder, 'binaries');
    work = await begin(
      await startTestServer({
        config: { storage: { kind: 'disk', folder: binaries }, logLevel: 'warn' },
        onLog: (line) => log.push(line),
      }),
    );
  });
  afterAll(async () => {
    await work.server.close();
  });

  test.each(['missing', 'a file'])(
    'that is %s: each call is 503, no release is called damaged, and it comes back',
    async (kind) => {
      const license = await makeLicense(work.api);
      const release = await publish(work);
      const [open, whole] = [await work.up.prepare(bytes), await work.up.prepare(bytes)];
      await work.up.sendAll(bytes, whole);
      log.length = 0;
      await rename(binaries, `${binaries}.away`);
      if (kind === 'a file') await writeFile(binaries, 'x');

      for (const [name, call] of Object.entries({
        prepare: () => prepare(work),
        chunk: () => work.up.chunk(open.uploadId, 0, bytes),
        complete: () => work.up.complete(bytes, whole),
        direct: () => direct(work),
        download: () => download(work, release),
      }))
        expectUnavailable(name, outcomeOf(await call()));
      expect(log.filter((line) => line.includes(binaries)).length).toBeGreaterThanOrEqual(5);
      expect((await validateOn(work.server.api(work.key), license, 'ws-1')).code).toBe('VALID');
      await eventually(async () => expect(await readyz(work.server)).toEqual([200, 'unavailable']));
      expect(await readyz(work.server, '?require=storage')).toEqual([503, undefined]);

      await rm(binaries, { force: true });
      await rename(`${binaries}.away`, binaries);
      await eventually(async () => expect(await readyz(work.server)).toEqual([200, 'ok']));
      expect(await readyz(work.server, '?require=storage')).toEqual([200, 'ok']);
      expect((await download(work, release)).status).toBe(200);
      expect((await work.up.complete(bytes, whole)).status).toBe(201);
      const { damagedAt } = await work.api.ok(releases.get, { params: { releaseId: release.id } });
      expect(damagedAt).toBeNull();
    },
  );

  test('that is unavailable at the start does not block licensing, and is used when it recovers', async () => {
    const blocked = join(folder, 'blocked');
    await writeFile(blocked, 'x');
    const server = await startTestServer({
      config: { storage: { kind: 'disk', folder: join(blocked, 'binaries') } },
    });
    const own = await begin(server);
    expect((await validateOn(server.api(own.key), await makeLicense(own.api), 'ws-1')).code).toBe('VALID');
    await eventually(async () => expect(await readyz(server)).toEqual([200, 'unavailable']));
    await rm(blocked);
    await mkdir(blocked);
    await eventually(async () => expect(await readyz(server)).toEqual([200, 'ok']));
    await publish(own);
  });

  // only root may mount, and a skipped test would count as a failed one
  if (process.getuid?.() !== 0) return;

  test('that is read-only takes no upload and delivers what it has', async () => {
    const mounted = join(folder, 'mounted');
    await mkdir(mounted);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', mounted]);
    try {
      const server = await startTestServer({ config: { storage: { kind: 'disk', folder: mounted } } });
      const own = await begin(server);
      const release = await publish(own);
      execFileSync('mount', ['-o', 'remount,ro', mounted]);
      expectUnavailable('prepare', outcomeOf(await prepare(own)));
      expectUnavailable('direct', outcomeOf(await direct(own)));
      expect(await ended(await startDownload(own, release))).toBe('whole');
      await eventually(async () => expect(await readyz(server)).toEqual([200, 'unavailable']));
      await server.close();
    } finally {
      execFileSync('umount', ['-l', mounted]);
    }
  });
});
