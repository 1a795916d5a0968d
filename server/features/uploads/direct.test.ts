import { request as httpRequest } from 'node:http';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { apiKeys } from '../../../contract/api-keys.ts';
import { uploads } from '../../../contract/uploads.ts';
import { rbac, users } from '../../../contract/users.ts';
import { archive, program, sha512Of } from '../../../tests/binaries.ts';
import { makeApiKey } from '../../../tests/factories.ts';
import { auditOf, eventually, startTestServer } from '../../../tests/harness.ts';
import { leftBy, MiB, nextVersion, uploader, type Uploader } from '../../../tests/uploading.ts';

const server = await startTestServer();
const manager = await server.signInAs('binary_manager');
const api = server.api(manager);
const up = uploader(server.url, api, manager);
const admin = server.api(await server.signInAs('super_admin'));
const { stored, arriving, bytesOf, rowOf } = leftBy(server);

describe('a file in one request', () => {
  test('becomes a draft, with size, hash and audit entry', async () => {
    const bytes = program(300_000);
    const version = nextVersion();
    const answer = await up.direct({
      file: bytes,
      version,
      channel: 'beta',
      platform: 'win32',
      architecture: 'arm64',
      release_notes: 'Faster',
      minimum_app_version: '0.9.0',
      is_mandatory: 'true',
      is_draft: 'false',
      rollout_percentage: '5',
      acceptable_failures: '2.5',
    });
    expect(answer.status, answer.text).toBe(201);
    const release = answer.body.data;
    expect(release).toMatchObject({
      version,
      channel: 'beta',
      architecture: 'arm64',
      releaseNotes: 'Faster',
      minimumAppVersion: '0.9.0',
      isMandatory: true,
      isDraft: false,
      rolloutPercentage: 5,
      acceptableFailures: 2.5,
      fileName: 'App Setup.exe',
      fileSize: 300_000,
      sha512: sha512Of(bytes),
    });
    const row = await rowOf(release.id);
    expect(await bytesOf(row.storage_key!)).toEqual(bytes);
    expect(row.blockmap_key).toBe(`${row.storage_key}.blockmap`);
    expect(row.sha1).toBeNull();
    expect((await auditOf(server, release.id)).map((entry) => entry.event_type)).toEqual(['release.created']);
    expect(await arriving()).toEqual([]);
  });

  test('may name its fields before the file or after it, and leave out all but the version', async () => {
    const first = await up.direct({ version: nextVersion(), file: program(1000) });
    expect(first.body.data).toMatchObject({
      channel: 'stable',
      platform: 'win32',
      architecture: 'x64',
      isDraft: true,
      rolloutPercentage: 100,
    });
    const last = await up.direct({ file: program(1000), version: nextVersion(), release_notes: '' });
    expect(last.status).toBe(201);
    expect(last.body.data.releaseNotes).toBeNull();
  });

  test.each(['Setup.EXE', 'Setup.Exe', 'Setup.exe ', '\ufeffSetup.exe\u00a0'])(
    'named %j keeps its name and is a Windows program',
    async (name) => {
      const answer = await up.direct({ version: nextVersion(), file: [program(1000), name] });
      expect(answer.status, answer.text).toBe(201);
      expect(answer.body.data.fileName).toBe(name.trim());
    },
  );

  test.each(['Setup.exe\u200e', 'Setup.ex\u00ade', 'Setup\u2060.exe'])(
    'named %j, with a character that nobody sees, is named as in a chunked upload',
    async (name) => {
      const answer = await up.direct({ version: nextVersion(), file: [program(1000), name] });
      expect(answer.status, answer.text).toBe(201);
      expect(answer.body.data.fileName).toBe('Setup.exe');
    },
  );

  test('gets a SHA-1 where it is a NuGet package', async () => {
    const answer = await up.direct({ version: nextVersion(), file: [archive(5000), 'App-1.0.0-full.nupkg'] });
    const row = await rowOf(answer.body.data.id);
    expect(row.sha1).toMatch(/^[0-9a-f]{40}$/);
    expect(row.blockmap_key).toBeNull();
    expect(row.file_kind).toBe('nupkg');
  });

  test('of just 20 MB is taken, and one byte more is told to come in chunks', async () => {
    const limit = 20 * MiB;
    const fits = await up.direct({ version: nextVersion(), file: program(limit) });
    expect(fits.status).toBe(201);
    const before = await stored();
    const over = await up.direct({ version: nextVersion(), file: program(limit + 1) });
    expect(over.status).toBe(413);
    expect(over.body).toMatchObject({
      code: 'TOO_LARGE',
      error: 'File too large. Files over 20MB require chunked upload. The upload will switch automatically.',
    });
    const far = await up.direct({ version: nextVersion(), file: program(40 * MiB) });
    expect(far.status).toBe(413);
    expect(await stored()).toEqual(before);
    expect(await arriving()).toEqual([]);
  });

  test.each([
    ['without a version', { file: program(1000) }, 400, /version: /],
    ['without a file', { version: '1.0.0' }, 400, /file: File is required/],
    [
      'with an invalid version',
      { version: '1.0', file: program(1000) },
      400,
      /Invalid semantic version: 1\.0/,
    ],
    [
      'with an unknown field',
      { version: '1.0.0', color: 'red', file: program(1000) },
      400,
      /color: Unknown field/,
    ],
    ['with an invalid flag', { version: '1.0.0', is_draft: 'maybe', file: program(1000) }, 400, /is_draft: /],
    [
      'with a share beyond 100',
      { version: '1.0.0', rollout_percentage: '101', file: program(1000) },
      400,
      /rollout_percentage: /,
    ],
    [
      'with acceptable failures that are no number',
      { version: '1.0.0', acceptable_failures: '2,5', file: program(1000) },
      400,
      /acceptable_failures: Must be a number from 0.1 to 50/,
    ],
    [
      'of a kind that is not taken',
      { version: '1.0.0', file: [program(1000), 'App.txt'] },
      400,
      /file: Must be a file name that ends in/,
    ],
    [
      'that is not what its name says',
      { version: '1.0.0', file: [program(1000), 'App.dmg'] },
      422,
      /not a macOS disk image/,
    ],
    ['that is empty', { version: '1.0.0', file: [Buffer.alloc(0), 'App.exe'] }, 422, /The file is empty/],
  ] as [string, Parameters<Uploader['direct']>[0], number, RegExp][])(
    '%s is refused, and nothing is left of it',
    async (_, fields, status, sentence) => {
      const before = await stored();
      const answer = await up.direct(fields);
      expect(answer.status, answer.text).toBe(status);
      expect(answer.body.error).toMatch(sentence);
      expect(await stored()).toEqual(before);
      expect(await arriving()).toEqual([]);
    },
  );

  test('whose SHA-512 is not the one that was sent is refused, and both are named', async () => {
    const bytes = program(1000);
    const other = sha512Of(Buffer.from('other'));
    const before = await stored();
    const answer = await up.direct({ version: nextVersion(), sha512: other, file: bytes });
    expect(answer.status).toBe(422);
    expect(answer.body.error).toContain(other);
    expect(answer.body.error).toContain(sha512Of(bytes));
    expect(await stored()).toEqual(before);
  });

  test('of a version that is there already is refused', async () => {
    const version = nextVersion();
    await up.direct({ version, file: program(1000) });
    const before = await stored();
    const answer = await up.direct({ version, file: program(1000) });
    expect(answer.body.code).toBe('ALREADY_EXISTS');
    expect(await stored()).toEqual(before);
  });

  test('that is not a form, or breaks off, is refused', async () => {
    const send = (type: string, body: string) =>
      fetch(server.url + uploads.direct.path, {
        method: 'POST',
        headers: { ...manager.headers, 'content-type': type },
        body,
      });
    expect((await send('multipart/form-data', 'x')).status).toBe(400);
    expect((await send('multipart/form-data; boundary=b', 'x')).status).toBe(400);
    const unended = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.exe"\r\n\r\nMZ';
    expect((await send('multipart/form-data; boundary=b', unended)).status).toBe(400);
    expect((await send('application/json', '{}')).status).toBe(415);
    expect(await arriving()).toEqual([]);
  });

  test('that names a field twice is refused: the last value would win over the other unseen', async () => {
    const form = new FormData();
    form.append('file', new Blob([new Uint8Array(program(1000))]), 'App.exe');
    form.append('version', nextVersion());
    form.append('rollout_percentage', '5');
    form.append('rollout_percentage', '100');
    const address = server.url + uploads.direct.path;
    const answer = await fetch(address, { method: 'POST', headers: manager.headers, body: form });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('rollout_percentage: Is given more than once');
    expect(await arriving()).toEqual([]);
  });

  test.each([
    [
      'name="release_notes"',
      'Gr\xfc\xdfe',
      'release_notes: Has letters that cannot be read (\uFFFD): send it as UTF-8',
    ],
    [
      'name="file"; filename="Gr\xfc\xdfe.exe"',
      'MZ',
      'file: Has letters that cannot be read (\uFFFD): send it as UTF-8',
    ],
  ])('whose text is not UTF-8 is refused, not stored without its letters: %#', async (name, text, error) => {
    const form = `--b\r\nContent-Disposition: form-data; ${name}\r\n\r\n${text}\r\n--b--\r\n`;
    const answer = await fetch(server.url + uploads.direct.path, {
      method: 'POST',
      headers: { ...manager.headers, 'content-type': 'multipart/form-data; boundary=b' },
      body: Buffer.from(form, 'latin1'),
    });
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(error)]);
    expect(await arriving()).toEqual([]);
  });

  /** A sender who has sent the beginning of a file, and whose connection is still open. */
  function unendedForm() {
    const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.exe"\r\n\r\n';
    const request = httpRequest(server.url + uploads.direct.path, {
      method: 'POST',
      headers: {
        ...manager.headers,
        'content-type': 'multipart/form-data; boundary=b',
        'content-length': 9e6,
      },
    }).on('error', () => undefined);
    request.write(head);
    request.write(program(2 * MiB));
    return request;
  }

  test('whose sender goes away leaves nothing', async () => {
    const before = await stored();
    const request = unendedForm();
    await eventually(async () => (await arriving()).length === 1);
    request.destroy();
    await eventually(async () => (await arriving()).length === 0);
    expect(await stored()).toEqual(before);
  });

  type Sender = { id: string };
  /** Gets a role with the same permissions that requires a second factor. */
  async function becomeCareful({ id }: Sender) {
    const body = { roleId: 'careful_manager', description: 'Careful', copyFrom: 'binary_manager' };
    const { roleId, description, permissions } = await admin.ok(rbac.createRole, { body });
    const requiresSecondFactor = true;
    await admin.ok(rbac.updateRole, {
      params: { roleId },
      body: { description, permissions, requiresSecondFactor },
    });
    await admin.ok(users.update, { params: { id }, body: { role: roleId } });
  }
  test.each([
    [
      'is signed out',
      'The session has ended',
      ({ id }: Sender) => admin.ok(users.deactivate, { params: { id } }),
    ],
    [
      'has been signed in for the longest time',
      'The session has ended',
      async ({ id }: Sender) => {
        const { clock, context, db } = server;
        const began = new Date(clock.now().getTime() - context.config.sessionMaxMs + 1);
        await db.updateTable('sessions').set({ created_at: began }).where('user_id', '=', id).execute();
        clock.advance(1);
      },
    ],
    [
      'loses a permission',
      'The caller lost a permission',
      ({ id }: Sender) => admin.ok(users.update, { params: { id }, body: { role: 'viewer' } }),
    ],
    ['must set up a second factor', 'Your role requires a second factor', becomeCareful],
    [
      'has a key that is revoked',
      'The API key was revoked',
      ({ id }: Sender) => admin.ok(apiKeys.revoke, { params: { keyId: id } }),
    ],
    [
      'has a key that expires',
      'has expired',
      async ({ id }: Sender) => {
        const expired = { expires_at: server.clock.now() };
        await server.db.updateTable('api_keys').set(expired).where('api_key_id', '=', id).execute();
      },
    ],
    [
      'has a key that loses the scope',
      'The caller lost a permission',
      ({ id }: Sender) => admin.ok(apiKeys.update, { params: { keyId: id }, body: { scopes: ['updates'] } }),
    ],
  ] as const)('whose sender %s meanwhile is no release', async (how, error, lose) => {
    const isKey = how.includes('key');
    const key = await makeApiKey(admin, { scopes: ['releases'] });
    const person = await server.signInAs('binary_manager');
    const before = await stored();
    const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.exe"\r\n\r\n';
    const version = `--b\r\nContent-Disposition: form-data; name="version"\r\n\r\n${nextVersion()}\r\n--b--\r\n`;
    async function* body() {
      yield Buffer.from(head);
      yield program(2 * MiB);
      await eventually(async () => (await arriving()).length === 1);
      await lose({ id: isKey ? key.id : person.userId });
      yield Buffer.from(`\r\n${version}`);
    }
    const answer = await fetch(server.url + uploads.direct.path, {
      method: 'POST',
      headers: { ...(isKey ? key : person).headers, 'content-type': 'multipart/form-data; boundary=b' },
      body: Readable.toWeb(Readable.from(body())) as unknown as BodyInit,
      duplex: 'half',
    } as RequestInit);
    expect((await answer.json()) as unknown).toMatchObject({
      error: expect.stringContaining(error) as string,
    });
    expect(await stored()).toEqual(before);
  });

  test('is for those who may create releases, and for API keys of that scope', async () => {
    const viewer = await server.signInAs('viewer');
    const asViewer = uploader(server.url, server.api(viewer), viewer);
    expect((await asViewer.direct({ version: '1.0.0', file: program(1000) })).status).toBe(403);
    const key = await makeApiKey(admin, { scopes: ['releases'] });
    const asKey = uploader(server.url, server.api(key), key);
    expect((await asKey.direct({ version: nextVersion(), file: program(1000) })).status).toBe(201);
  });
});
