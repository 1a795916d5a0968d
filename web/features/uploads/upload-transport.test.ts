import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { stubBrowser } from '../../../tests/browser.ts';

vi.stubGlobal('navigator', {});
stubBrowser();

type Sent = {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: unknown;
  withCredentials?: boolean;
};
type Answer = [status: number, text: string] | 'broken' | 'silent';
const sent: Sent[] = [];
let answers: Answer[] = [];

/** The part of XMLHttpRequest that the transport uses. */
class FakeRequest extends EventTarget {
  upload = new EventTarget();
  withCredentials = false;
  status = 0;
  responseText = '';
  sent: Sent = { method: '', url: '', headers: {}, body: null };
  open(method: string, url: string) {
    Object.assign(this.sent, { method, url });
  }
  setRequestHeader(name: string, value: string) {
    this.sent.headers[name] = value;
  }
  send(body: unknown) {
    sent.push(Object.assign(this.sent, { body, withCredentials: this.withCredentials }));
    const answer = answers.shift() ?? 'broken';
    if (answer === 'silent') return;
    queueMicrotask(() => {
      this.upload.dispatchEvent(Object.assign(new Event('progress'), { loaded: 7 }));
      if (answer !== 'broken') [this.status, this.responseText] = answer;
      this.dispatchEvent(new Event(answer === 'broken' ? 'error' : 'load'));
    });
  }
  abort() {
    this.dispatchEvent(new Event('abort'));
  }
}
vi.stubGlobal('XMLHttpRequest', FakeRequest);

const { transport } = await import('./upload-transport.ts');
const { clearSession, setSession } = await import('../../session-store.ts');

const signedIn = {
  user: { userId: 'u1', email: 'dana@clinic.example', name: 'Dana Ruiz' },
  accessToken: 'first',
  permissions: [],
  roles: [],
};
const fields = {
  version: '1.2.3',
  channel: 'beta',
  platform: 'win32',
  architecture: 'x64',
  releaseNotes: 'New',
  minimumAppVersion: '',
  minimumSupportedVersion: '',
  security: false,
  isMandatory: false,
  isDraft: true,
  rolloutPercentage: 5,
  acceptableFailures: 2.5,
} as const;
const file = { blob: new Blob(['MZ']), name: 'app.exe' };
const signal = new AbortController().signal;
const direct = (...given: Answer[]) => {
  answers = given;
  return transport.direct(file, fields, 'hash', { signal });
};

beforeEach(() => setSession(signedIn));
afterEach(() => {
  sent.length = 0;
  clearSession();
});

describe('the errors of spec part 2, section 8', () => {
  test.each<[Answer, string]>([
    [
      [413, '{"error":"Payload too large"}'],
      'File too large. Files over 20MB require chunked upload. The upload will switch automatically.',
    ],
    [[422, '{"success":false,"error":"Not a Windows program"}'], 'Not a Windows program'],
    [[409, '{"message":"Exists already"}'], 'Exists already'],
    [[502, ''], 'Upload failed with status 502'],
    [[500, '{}'], 'Upload failed with status 500'],
    [[200, '<html>'], 'Invalid response format'],
    [[201, ''], 'Invalid response format'],
    [[200, 'null'], 'Invalid response format'],
    ['broken', 'Network error during upload'],
  ])('%o', async (answer, message) => {
    await expect(direct(answer)).rejects.toMatchObject({ message, name: 'ApiError' });
  });

  test('cancelled', async () => {
    const stop = new AbortController();
    answers = ['silent'];
    const running = transport.direct(file, fields, 'hash', { signal: stop.signal });
    await expect.poll(() => sent).toHaveLength(1);
    stop.abort();
    await expect(running).rejects.toThrow('Upload cancelled');
  });
});

describe('what is sent', () => {
  test('the fields of the spec, then the file, as whoever is signed in', async () => {
    await direct([201, '{"success":true,"data":{"id":"r1"}}']);
    expect(sent[0]).toMatchObject({ method: 'POST', url: '/api/v1/binaries/upload', withCredentials: true });
    expect(sent[0]!.headers).toEqual({ Accept: 'application/json', Authorization: 'Bearer first' });
    const form = sent[0]!.body as FormData;
    expect([...form.keys()]).toEqual([
      'version',
      'channel',
      'platform',
      'architecture',
      'release_notes',
      'minimum_app_version',
      'is_mandatory',
      'is_draft',
      'rollout_percentage',
      'sha512',
      'acceptable_failures',
      'file',
    ]);
    expect((form.get('file') as File).name).toBe('app.exe');
    expect(form.get('acceptable_failures')).toBe('2.5');
  });

  test('what makes a release urgent, where that was set', async () => {
    answers = [[201, '{"success":true,"data":{"id":"r1"}}']];
    const urgent = { ...fields, security: true, minimumSupportedVersion: '1.0.0' };
    await transport.direct(file, urgent, 'hash', { signal });
    const form = sent[0]!.body as FormData;
    expect([form.get('security'), form.get('minimum_supported_version')]).toEqual(['true', '1.0.0']);
  });

  test('prepare and complete say what the spec names', async () => {
    const build = { version: '1.2.3', channel: 'beta', platform: 'win32', architecture: 'x64' };
    const prepared = { uploadId: 'u-1', fileKey: 'k', chunkSize: 8, totalChunks: 1 };
    answers = [[201, JSON.stringify({ data: prepared })]];
    expect(await transport.prepare(file, fields, { signal })).toEqual(prepared);
    expect(sent[0]).toMatchObject({ method: 'POST', url: '/api/v1/binaries/upload/prepare' });
    expect(JSON.parse(sent[0]!.body as string)).toEqual({ fileName: 'app.exe', fileSize: 2, ...build });
    answers = [[201, '{"data":{"id":"r1"}}']];
    await transport.complete(prepared, { ...fields, minimumAppVersion: '0.9.0' }, 'hash', { signal });
    expect(sent[1]).toMatchObject({ method: 'POST', url: '/api/v1/binaries/upload/complete' });
    expect(JSON.parse(sent[1]!.body as string)).toMatchObject({
      uploadId: 'u-1',
      fileKey: 'k',
      totalChunks: 1,
      sha512: 'hash',
      ...build,
      releaseNotes: 'New',
      minimumAppVersion: '0.9.0',
      isMandatory: false,
    });
  });

  test('a chunk as it is, and how much of it has gone', async () => {
    answers = [[200, '{"data":{"index":3,"received":4}}']];
    const onSent = vi.fn();
    await transport.chunk('u-1', 3, file.blob, { signal, onSent });
    expect(sent[0]).toMatchObject({
      method: 'PUT',
      url: '/api/v1/binaries/upload/chunk/u-1/3',
      body: file.blob,
    });
    expect(sent[0]!.headers['Content-Type']).toBe('application/octet-stream');
    expect(onSent).toHaveBeenCalledWith(7);
  });
});

test('an answer is its data property, or the body itself', async () => {
  expect(await direct([201, '{"success":true,"data":{"id":"r1"}}'])).toEqual({ id: 'r1' });
  expect(await direct([201, '{"id":"r2"}'])).toEqual({ id: 'r2' });
});

test('401 renews the session once and sends again', async () => {
  const renewed = { success: true, data: { ...signedIn, accessToken: 'second' } };
  const fetch = vi.fn(() => Promise.resolve(new Response(JSON.stringify(renewed), { status: 200 })));
  vi.stubGlobal('fetch', fetch);
  expect(await direct([401, ''], [201, '{"id":"r1"}'])).toEqual({ id: 'r1' });
  expect(fetch).toHaveBeenCalledOnce();
  expect(sent.map(({ headers }) => headers['Authorization'])).toEqual(['Bearer first', 'Bearer second']);
});

test('401 for good ends the session', async () => {
  vi.stubGlobal('fetch', () => Promise.resolve(new Response('{}', { status: 401 })));
  await expect(direct([401, ''])).rejects.toThrow('Authentication failed - please log in again');
});
