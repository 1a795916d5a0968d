import { execFile } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { truncateSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer, request as forward } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { localTls } from '../../client/src/tls.testing.ts';
import type { ApiKeyScope } from '../../contract/route.ts';
import { releases } from '../../contract/releases.ts';
import { directUploadLimit, uploads } from '../../contract/uploads.ts';
import { program, sha512Of } from '../../tests/binaries.ts';
import { makeApiKey } from '../../tests/factories.ts';
import { eventually, startTestServer } from '../../tests/harness.ts';
import { readOptions, type Options } from './options.ts';
import { createProgress } from './progress.ts';
import { publishRelease } from './upload.ts';
import { newFolder } from '../../tests/place.ts';
import { StorageDown } from '../../server/storage/storage.ts';
import { freePort } from '../../tests/server-process.ts';

const MiB = 1024 ** 2;
let version: string;
let made = 0;
const server = await startTestServer();
const staff = server.api(await server.signInAs('super_admin'));
const keyWith = async (...scopes: ApiKeyScope[]) => (await makeApiKey(staff, { scopes })).key;
const apiKey = await keyWith('releases');
const folder = await newFolder();
beforeEach(() => void (version = `3.${++made}.0`));

const uploadRows = () => server.db.selectFrom('uploads').selectAll().orderBy('created_at').execute();

async function fileOf(bytes: Buffer, name = 'App Setup.exe'): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, bytes);
  return path;
}

function optionsOf(args: string[], key = apiKey, url = server.url): Options {
  const options = readOptions([...args, '--server', url], { LANYARD_API_KEY: key });
  if (options === 'help') throw new Error('no options');
  return options;
}

/**
 * Starts a proxy that responds to some requests itself, with the status that `statusFor` returns; to one that it has
 * passed on and gives up (504, or without an answer), when that comes.
 */
async function startProxy(
  statusFor: (method: string, path: string) => number | undefined | Promise<number | undefined>,
  at = 0,
) {
  const seen: string[] = [];
  const { port } = new URL(server.url);
  const listener = createServer((incoming, outgoing) => {
    const { method = '', url = '' } = incoming;
    seen.push(`${method} ${url}`);
    const status = statusFor(method, url);
    if (typeof status === 'number') {
      const headers = status === 429 ? { 'retry-after': '1800' } : {};
      incoming.resume().on('end', () => outgoing.writeHead(status, headers).end());
      return;
    }
    const target = { port, host: '127.0.0.1', path: url, method, headers: incoming.headers };
    const forwarded = forward(target, (response) => {
      if (status) return void response.resume();
      outgoing.writeHead(response.statusCode!, response.headers);
      response.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.destroy());
    void status?.then((given) => (given ? outgoing.writeHead(given).end() : outgoing.destroy()));
    if (!status) outgoing.on('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => listener.listen(at, '127.0.0.1', resolve));
  onTestFinished(() => void listener.close());
  const { port: own } = listener.address() as AddressInfo;
  return { url: `http://127.0.0.1:${own}`, seen };
}

describe('up to 20 MB', () => {
  test('a file is sent in one request, becomes a draft, and its progress is reported', async () => {
    const bytes = program(3 * MiB);
    const sent: number[] = [];
    const options = optionsOf(['--file', await fileOf(bytes), '--version', version]);
    const release = await publishRelease(options, { onSent: (done) => void sent.push(done) });
    expect(release).toMatchObject({
      version,
      channel: 'stable',
      platform: 'win32',
      architecture: 'x64',
      isDraft: true,
      fileName: 'App Setup.exe',
      fileSize: 3 * MiB,
      sha512: sha512Of(bytes),
    });
    expect(sent.at(-1)).toBe(3 * MiB);
    expect(sent.length).toBeGreaterThan(3);
    expect(await uploadRows()).toEqual([]);
  });

  test('every flag is sent', async () => {
    const notes = join(folder, 'notes.md');
    await writeFile(notes, '# Faster\n\n"Quoted", ünïcode');
    const release = await publishRelease(
      optionsOf(
        [
          `--file=${await fileOf(program(1000))} --version=${version}-beta --channel=beta --platform=win32`,
          `--architecture=arm64 --notes-file=${notes} --mandatory --publish --minimum-app-version=2.0.0`,
          '--rollout=25',
        ].flatMap((line) => line.split(/ (?=--)/)),
      ),
    );
    const stored = await staff.ok(releases.get, { params: { releaseId: release.id } });
    // multipart forms use CR LF as line endings
    expect(stored.releaseNotes?.replaceAll('\r\n', '\n')).toBe('# Faster\n\n"Quoted", ünïcode');
    expect(stored).toMatchObject({
      channel: 'beta',
      architecture: 'arm64',
      minimumAppVersion: '2.0.0',
      isMandatory: true,
      isDraft: false,
      rolloutPercentage: 25,
    });
  });

  test('20 MB exactly', async () => {
    const path = await fileOf(program(directUploadLimit));
    const release = await publishRelease(optionsOf(['--file', path, '--version', version]));
    expect(release.fileSize).toBe(directUploadLimit);
    expect(await uploadRows()).toEqual([]);
  });

  test.each([
    'a proxy has given up',
    'is a page of a proxy',
    'the database has lost',
    'was lost',
    'nobody waits for',
  ])('a release whose answer %s is not called a failure alone', async (how) => {
    const stop = new AbortController();
    const relayed = await startProxy(async () => {
      await eventually(
        async () => (await staff.ok(releases.list, { query: { search: version } })).length > 0,
      );
      if (how === 'nobody waits for') stop.abort();
      return { 'a proxy has given up': 504, 'is a page of a proxy': 200, 'the database has lost': 503 }[how];
    });
    const args = ['--file', await fileOf(program(1000)), '--version', version];
    const publishing = publishRelease(optionsOf(args, apiKey, relayed.url), { signal: stop.signal });
    await expect(publishing).rejects.toThrow('look whether the release is there');
  });

  test('a server that is not there yet is waited for', async () => {
    const path = await fileOf(program(1000));
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const fetching = vi.spyOn(globalThis, 'fetch');
    onTestFinished(() => fetching.mockRestore());
    const said: string[] = [];
    const publishing = publishRelease(optionsOf(['--file', path, '--version', version], apiKey, url), {
      pauseMs: 500,
      onWait: (line) => void said.push(line),
    });
    await eventually(() => fetching.mock.calls.length > 0 && said.length > 0);
    expect(said[0]).toMatch(/^http:.* cannot be reached: .*ECONNREFUSED.* Trying again \(2 of 20\)$/);
    const relayed = await startProxy(() => undefined, port);
    expect((await publishing).version).toBe(version);
    expect(relayed.seen).toHaveLength(1);
  });

  test('a file that is too large for a proxy in one request is sent in chunks', async () => {
    const bytes = program(9 * MiB);
    const relayed = await startProxy((_, path) => (path === uploads.direct.path ? 413 : undefined));
    const args = ['--file', await fileOf(bytes), '--version', version];
    const sent: number[] = [];
    const release = await publishRelease(optionsOf(args, apiKey, relayed.url), {
      onSent: (done) => void sent.push(done),
    });
    expect(release.sha512).toBe(sha512Of(bytes));
    expect(relayed.seen.filter((call) => call.startsWith('PUT'))).toHaveLength(2);
    expect(sent.at(-1)).toBe(bytes.length);
  });
});

describe('above 20 MB', () => {
  const size = 20 * MiB + 17;
  const bytes = program(size);

  test('a file is sent in chunks, with its hash', async () => {
    const relayed = await startProxy(() => undefined);
    const sent: number[] = [];
    const args = ['--file', await fileOf(bytes), '--version', version, '--notes', 'Big', '--publish'];
    const release = await publishRelease(optionsOf(args, apiKey, relayed.url), {
      onSent: (done) => void sent.push(done),
    });
    expect(release).toMatchObject({
      fileSize: size,
      sha512: sha512Of(bytes),
      isDraft: false,
      releaseNotes: 'Big',
    });
    expect(relayed.seen.filter((call) => call.startsWith('PUT'))).toHaveLength(3);
    expect(sent.at(-1)).toBe(size);
  });

  test('a chunk that fails is retried at the end', async () => {
    let failures = 0;
    const relayed = await startProxy((method, path) =>
      method === 'PUT' && path.endsWith('/1') && failures++ === 0 ? 503 : undefined,
    );
    const sent: number[] = [];
    const release = await publishRelease(
      optionsOf(['--file', await fileOf(bytes), '--version', version], apiKey, relayed.url),
      { onSent: (done) => void sent.push(done) },
    );
    expect(release.sha512).toBe(sha512Of(bytes));
    expect(relayed.seen.findLast((call) => call.startsWith('PUT'))).toMatch(/\/1$/);
    expect(sent.at(-1)).toBe(size);
  });

  test('a preparation whose answer is lost is repeated, and reserves one upload', async () => {
    const before = (await uploadRows()).length;
    let lost = 0;
    const relayed = await startProxy((_, path) => {
      if (path !== uploads.prepare.path || lost++ > 1) return undefined;
      const prepared = async () => (await uploadRows()).length > before;
      return eventually(prepared).then(() => 504);
    });
    const args = ['--file', await fileOf(bytes), '--version', version];
    const options = optionsOf(args, apiKey, relayed.url);
    expect((await publishRelease(options, { pauseMs: 0 })).version).toBe(version);
    expect((await uploadRows()).length).toBe(before + 1);
  });

  test('a storage that is away during the chunks is waited for', async () => {
    const { storage } = server.context;
    const writing = vi.spyOn(storage, 'writePart');
    onTestFinished(() => writing.mockRestore());
    // all three chunks, and the first of them twice more
    for (let call = 0; call < 5; call++)
      writing.mockRejectedValueOnce(new StorageDown('disk', new Error('away')));
    const options = optionsOf(['--file', await fileOf(bytes), '--version', version]);
    const release = await publishRelease(options, { pauseMs: 0 });
    expect(release.sha512).toBe(sha512Of(bytes));
  });

  test('a chunk that fails again and again is named, and the upload is canceled', async () => {
    const relayed = await startProxy((method, path) =>
      method === 'PUT' && path.endsWith('/2') ? 503 : undefined,
    );
    const options = optionsOf(['--file', await fileOf(bytes), '--version', version], apiKey, relayed.url);
    await expect(publishRelease(options, { pauseMs: 0 })).rejects.toThrow(
      'Failed to upload chunk 3/3\nUpload failed with status 503',
    );
    expect(relayed.seen.at(-1)).toMatch(/^DELETE /);
    expect((await uploadRows()).filter(({ status }) => status === 'open')).toEqual([]);
  });

  test('a key whose requests of the hour are used up is not tried again, and the upload is canceled', async () => {
    const relayed = await startProxy((method) => (method === 'PUT' ? 429 : undefined));
    const args = ['--file', await fileOf(bytes), '--version', version];
    await expect(publishRelease(optionsOf(args, apiKey, relayed.url))).rejects.toThrow(
      'Upload failed with status 429. Publish again in 30 minutes, or with a key that has a higher limit.',
    );
    expect(relayed.seen.map((call) => call.split(' ')[0])).toEqual(['POST', 'PUT', 'PUT', 'PUT', 'DELETE']);
  });

  test('a file that is truncated meanwhile is named, and the upload is canceled', async () => {
    const path = await fileOf(bytes);
    const relayed = await startProxy((method) => {
      if (method === 'POST') truncateSync(path, 1000);
      return undefined;
    });
    const args = ['--file', path, '--version', version];
    await expect(publishRelease(optionsOf(args, apiKey, relayed.url))).rejects.toThrow(
      'The file was truncated while it was read.',
    );
    expect(relayed.seen.at(-1)).toMatch(/^DELETE /);
  });

  test('an interruption cancels the upload', async () => {
    const stop = new AbortController();
    const relayed = await startProxy(() => undefined);
    const args = ['--file', await fileOf(bytes), '--version', version];
    const publishing = publishRelease(optionsOf(args, apiKey, relayed.url), {
      signal: stop.signal,
      onSent: (done) => void (done > 2 * MiB && stop.abort()),
    });
    await expect(publishing).rejects.toThrow('Upload cancelled');
    expect(relayed.seen.at(-1)).toMatch(/^DELETE /);
    expect((await uploadRows()).filter(({ status }) => status === 'open')).toEqual([]);
  });

  test('a server or storage that is away at the completion is waited for, and nothing is canceled', async () => {
    let refused = 0;
    const relayed = await startProxy((_, path) =>
      path.endsWith('/complete') && ++refused <= 3 ? 503 : undefined,
    );
    const options = optionsOf(['--file', await fileOf(bytes), '--version', version], apiKey, relayed.url);
    const said: string[] = [];
    const watch = { pauseMs: 100, onWait: (line: string) => void said.push(line) };
    expect((await publishRelease(options, watch)).version).toBe(version);
    expect(said[0]).toBe('Upload failed with status 503. Trying again (2 of 20)');
    expect(relayed.seen.filter((call) => call.startsWith('DELETE'))).toEqual([]);
  });

  test.each([
    ['given up by a proxy again and again is waited for', undefined],
    ['interrupted says that there may be a release', 'interrupts'],
    ['cut off from the server says that there may be a release', 'cuts off'],
  ])('a completion that is %s', async (_, ends) => {
    const { storage } = server.context;
    const finish = storage.finish.bind(storage);
    const works = new EventEmitter();
    const [begun, goOn] = [once(works, 'begun'), once(works, 'go on')];
    const held = vi.spyOn(storage, 'finish').mockImplementation(async (...args) => {
      works.emit('begun');
      await goOn;
      return finish(...args);
    });
    onTestFinished(() => void (held.mockRestore(), works.emit('go on')));
    const stop = new AbortController();
    let completions = 0;
    const relayed = await startProxy((method, path) => {
      if (ends === 'cuts off' && method === 'DELETE') return 502;
      if (!path.endsWith('/complete')) return undefined;
      if (ends === 'interrupts') void begun.then(() => stop.abort());
      if (ends === 'cuts off' || ++completions < 4) return begun.then(() => 504);
      works.emit('go on');
      return undefined;
    });
    const options = optionsOf(
      ['--file', await fileOf(bytes), '--version', version, '--publish'],
      apiKey,
      relayed.url,
    );
    const publishing = publishRelease(options, { signal: stop.signal, pauseMs: 0 });
    if (ends) await expect(publishing).rejects.toThrow('look whether the release is there');
    else expect(await publishing).toMatchObject({ version, isDraft: false, sha512: sha512Of(bytes) });
  });

  test('a completion that is refused has failed, also where its cancellation is not answered', async () => {
    const relayed = await startProxy((method, path) =>
      path.endsWith('/complete') ? 507 : method === 'DELETE' ? 503 : undefined,
    );
    const args = ['--file', await fileOf(bytes), '--version', version];
    const refused = publishRelease(optionsOf(args, apiKey, relayed.url));
    await expect(refused).rejects.toThrow(/507$/);
    expect(relayed.seen.filter((call) => call.endsWith('/complete'))).toHaveLength(1);
  });

  test('a page of a proxy is no answer, whatever its status', async () => {
    const answered = new Set<string>();
    const relayed = await startProxy((method, path) => {
      const isFirst = !answered.has(method + path);
      answered.add(method + path);
      return isFirst ? 200 : undefined;
    });
    const args = ['--file', await fileOf(bytes), '--version', version];
    const said: string[] = [];
    const watch = { pauseMs: 0, onWait: (line: string) => void said.push(line) };
    const release = await publishRelease(optionsOf(args, apiKey, relayed.url), watch);
    expect(release.sha512).toBe(sha512Of(bytes));
    // the preparation and the completion; each chunk is sent again without a wait
    expect(said).toEqual(Array(2).fill('Invalid response format. Trying again (2 of 20)'));
  });

  test('a key without the scope is refused before anything is sent', async () => {
    const relayed = await startProxy(() => undefined);
    const args = ['--file', await fileOf(bytes), '--version', version];
    const refused = publishRelease(optionsOf(args, await keyWith('validate', 'updates'), relayed.url));
    await expect(refused).rejects.toThrow('This API key lacks the scope releases.');
    expect(relayed.seen).toHaveLength(1);
  });
});

describe('refused with a message', () => {
  const publish = async (args: string[], key?: string) =>
    publishRelease(optionsOf(['--file', await fileOf(program(1000)), ...args], key));

  test('an unknown API key, with the message of the server', async () => {
    await expect(publish(['--version', version], 'lyd_unknown')).rejects.toThrow('The API key is not known.');
  });

  test('a version that already exists', async () => {
    await publish(['--version', version]);
    await expect(publish(['--version', version])).rejects.toThrow(/already/);
  });

  test('content that does not match the file extension', async () => {
    const path = await fileOf(Buffer.from('no program'), 'Other.exe');
    await expect(publishRelease(optionsOf(['--file', path, '--version', version]))).rejects.toThrow(
      'The content is not a Windows program, as the name of the file says.',
    );
  });

  test.each([
    [['--version', '1.0'], '--version: Invalid semantic version: 1.0'],
    [[], '--version: Version is required'],
    [['--version', '1.0.0', '--rollout', 'some'], '--rollout: Must be a whole number from 0 to 100'],
    [['--version', '1.0.0', '--rollout', '101'], '--rollout: Must be a whole number from 0 to 100'],
    [['--version', '1.0.0', '--minimum-app-version', 'x'], '--minimum-app-version: '],
    [['--version', '1.0.0', '--channel', 'nightly'], '--channel: '],
    [['--version', '1.0.0', '--mandatory'], '--mandatory needs --publish'],
    [['--version', '1.0.0', '--notes', 'a', '--notes-file', 'b'], 'Use either --notes or --notes-file.'],
    [['--version', '1.0.0', '--nothing'], "Unknown option '--nothing'"],
  ])('%j: %s', async (args, message) => {
    await expect(publish(args)).rejects.toThrow(message);
  });

  test('notes that are not UTF-8, before anything is sent', async () => {
    const notes = join(folder, 'windows-1252.md');
    await writeFile(notes, Buffer.from('Für Ärzte', 'latin1'));
    await expect(publish(['--version', version, '--notes-file', notes])).rejects.toThrow(
      `--notes-file: ${notes} is not UTF-8.`,
    );
  });

  test('a file is found from the folder in which npm was called', () => {
    vi.stubEnv('INIT_CWD', folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(optionsOf(['--version', '1.0.0', '--file', 'a.exe']).file).toBe(join(folder, 'a.exe'));
  });

  test('variables of a file that was written on Windows, or that are empty', () => {
    const from = (LANYARD_SERVER: string) =>
      readOptions(['--version', '1.0.0', '--file', 'a.exe'], {
        LANYARD_API_KEY: `${apiKey}\r`,
        LANYARD_SERVER,
      });
    expect(from('https://lanyard.example/\r')).toMatchObject({ server: 'https://lanyard.example', apiKey });
    expect(from(' ')).toMatchObject({ server: 'http://localhost:8080' });
  });

  test('a missing key, file or server', async () => {
    const [file, elsewhere] = [['--version', '1.0.0', '--file'], 'http://127.0.0.1:1'];
    expect(() => readOptions([...file, 'a.exe'], {})).toThrow('LANYARD_API_KEY is not set');
    expect(() => optionsOf(['--version', '1.0.0'])).toThrow('File is required');
    await expect(publishRelease(optionsOf([...file, join(folder, 'none.exe')]))).rejects.toThrow(
      'none.exe cannot be read: ENOENT',
    );
    const away = optionsOf([...file, await fileOf(program(1000))], apiKey, elsewhere);
    await expect(publishRelease(away, { pauseMs: 0 })).rejects.toThrow(`${elsewhere} cannot be reached`);
    expect(() => optionsOf([...file, 'a.exe'], apiKey, 'ftp://x')).toThrow('is not an http or https URL');
  });

  test('a server that redirects: the key goes nowhere else, and the reason says where it leads', async () => {
    const other = await startProxy(() => undefined);
    const redirecting = createServer((_, outgoing) =>
      outgoing.writeHead(307, { location: `${other.url}/elsewhere` }).end(),
    ).listen(0, '127.0.0.1');
    onTestFinished(() => void redirecting.close());
    await once(redirecting, 'listening');
    const url = `http://127.0.0.1:${(redirecting.address() as AddressInfo).port}`;
    const onWait = vi.fn();
    for (const size of [1000, directUploadLimit + 1]) {
      const args = ['--file', await fileOf(program(size)), '--version', version];
      await expect(publishRelease(optionsOf(args, apiKey, url), { pauseMs: 0, onWait })).rejects.toThrow(
        `${url} redirects to ${other.url}/elsewhere`,
      );
    }
    expect([onWait.mock.calls, other.seen]).toEqual([[], []]);
  });

  test('a server whose certificate is not trusted is asked once, and the reason says what to set', async () => {
    const untrusted = createSecureServer(localTls).listen(0, '127.0.0.1');
    onTestFinished(() => void untrusted.close());
    await once(untrusted, 'listening');
    const url = `https://127.0.0.1:${(untrusted.address() as AddressInfo).port}`;
    const args = ['--file', await fileOf(program(1000)), '--version', version];
    const onWait = vi.fn();
    await expect(publishRelease(optionsOf(args, apiKey, url), { pauseMs: 0, onWait })).rejects.toThrow(
      /cannot be reached: .*certificate.*NODE_EXTRA_CA_CERTS/,
    );
    expect(onWait).not.toHaveBeenCalled();
  });
});

describe('on the terminal', () => {
  const draw = (isTTY: boolean) => {
    let [text, time] = ['', 0];
    const progress = createProgress({ isTTY, write: (part) => (text += part) }, () => time);
    for (let sent = 0; sent <= 100 * MiB; sent += MiB, time += 100) progress.show(sent, 100 * MiB);
    progress.end();
    return text;
  };

  test('one line is updated, with bytes, percent and speed', () => {
    expect(draw(true)).toContain('\r50.0 MB of 100.0 MB, 50 %, 10.0 MB/s');
    expect(draw(true).match(/\n/g)).toHaveLength(1);
  });

  test('a log gets a line for every ten percent', () => {
    expect(draw(false).trim().split('\n')).toHaveLength(11);
    expect(draw(false)).toContain('100.0 MB of 100.0 MB, 100 %');
  });

  test('a line between stands alone, on a terminal below the one that is updated', () => {
    let text = '';
    const progress = createProgress({ write: (more) => (text += more), isTTY: true });
    progress.say('Trying again');
    progress.show(1, 2);
    progress.say('Trying again');
    expect(text).toMatch(/^Trying again\n\r[^\n]*\nTrying again\n$/);
  });

  const tool = join(import.meta.dirname, '../../dist/tools/publish-release.js');
  test('the command exits with 1 and a message, or with 0 and the release', async () => {
    const run = (key: string) =>
      new Promise<{ code: number; out: string; err: string }>((resolve) => {
        const args = [
          tool,
          '--file',
          join(folder, 'App Setup.exe'),
          '--version',
          version,
          '--server',
          server.url,
        ];
        const env = { ...process.env, LANYARD_API_KEY: key };
        execFile(process.execPath, args, { env }, (error, out, err) =>
          resolve({ code: error ? Number(error.code) : 0, out, err }),
        );
      });
    await fileOf(program(50_000));
    expect(await run('lyd_wrong')).toMatchObject({ code: 1, out: '' });
    expect((await run('lyd_wrong')).err).toContain('The API key is not known.');
    const { code, out, err } = await run(apiKey);
    expect([code, out]).toEqual([
      0,
      expect.stringContaining(`${version} for win32 x64 on stable is a draft.`),
    ]);
    expect(err).toContain('100 %');
  });
});
