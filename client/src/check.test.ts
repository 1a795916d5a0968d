import nodeFs from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { askAgainAt } from './check.ts';
import type { Files } from './durable.ts';
import {
  day,
  decisionFile,
  licenseKey,
  newSigner,
  secretFiles,
  startFakeServer,
} from './fake-server.testing.ts';

/* What a stranger, a lost network and a clock can do to `check`. */

const [, tokenFile] = secretFiles();
const noNetwork = { status: 502, body: '<html>Bad gateway</html>' };

test('enrolls once, then validates by token and numbers its calls', async () => {
  const fake = await startFakeServer();
  const client = await fake.client({ licenseKey: 'e7k2m oqx4t 9zb3c 5df8g hj6cl' });
  const first = await client.check();
  expect(first).toMatchObject({ valid: true, source: 'online', code: 'VALID', modules: ['mod_lung_nodule'] });
  expect(first.problem).toBeUndefined();
  expect(first.expiresAt).toBe(new Date(fake.clock.at + 14 * day).toISOString());
  await client.check();
  await (await fake.client({ folder: client.folder })).check();
  expect(fake.calls.map(({ path }) => path)).toEqual([
    '/api/v1/machines/enroll',
    '/api/licenses/validate',
    '/api/licenses/validate',
  ]);
  expect(fake.calls.map(({ headers }) => headers['x-machine-sequence'])).toEqual([undefined, '1', '2']);
  expect(fake.calls[0]!.body).toMatchObject({ licenseKey, machineId: 'ws-07', platform: process.platform });
});

test('enrolls again with the same key when the token has ended', async () => {
  const fake = await startFakeServer();
  const client = await fake.client();
  await client.check();
  fake.tokens.clear();
  expect(await client.check()).toMatchObject({ valid: true, source: 'online' });
  const enrollments = fake.calls.filter(({ path }) => path.endsWith('/enroll')).map(({ body }) => body);
  expect(enrollments).toHaveLength(2);
  expect(enrollments[0]!['publicKey']).toBe(enrollments[1]!['publicKey']);
  expect(enrollments[0]!['nonce']).not.toBe(enrollments[1]!['nonce']);
});

test('a revoked license leaves the machine its token, with which it still gets updates', async () => {
  const fake = await startFakeServer();
  const client = await fake.client();
  await client.check();
  const token = await readFile(`${client.folder}/${tokenFile}`, 'utf8');
  fake.code = 'REVOKED';
  // the token no longer validates, and enrolling gives none
  fake.instead = ({ path }) =>
    path === '/api/licenses/validate'
      ? { status: 401, body: { error: 'The license is revoked.' } }
      : undefined;
  expect(await client.check()).toMatchObject({ valid: false, source: 'online', code: 'REVOKED' });
  expect(await readFile(`${client.folder}/${tokenFile}`, 'utf8')).toBe(token);
});

test('without an answer, says what it kept and until when; then nothing', async () => {
  const fake = await startFakeServer();
  const client = await fake.client();
  const { expiresAt } = await client.check();
  fake.instead = () => noNetwork;
  fake.clock.at += 13 * day;
  const kept = await client.check();
  expect(kept).toMatchObject({ valid: true, source: 'kept', code: 'VALID', expiresAt });
  expect(kept.problem).toContain('502');
  fake.clock.at += 2 * day;
  const late = await client.check();
  expect(late).toMatchObject({ valid: false, source: 'kept', code: 'OFFLINE_TOO_LONG', modules: [] });
  expect(late.expiresAt).toBeNull();
  // or the clock is ahead
  expect(late.message).toContain('The clock of this machine says 2026-12-07 (UTC)');
  fake.clock.at += 1000 * day;
  const ended = await client.check();
  expect(ended).toMatchObject({ valid: false, source: 'kept', code: 'EXPIRED' });
  expect(ended.message).toContain('2029-09-02');
});

test('a server that hangs is no answer, after the given time', async () => {
  const fake = await startFakeServer();
  const client = await fake.client();
  await client.check();
  fake.instead = () => 'hang';
  const impatient = await fake.client({ folder: client.folder, timeoutMs: 300 });
  const result = await impatient.check();
  expect(result).toMatchObject({ valid: true, source: 'kept' });
  expect(result.problem).toContain('300 ms');
});

test('a server that sends a part and then nothing is no answer', async () => {
  const fake = await startFakeServer();
  fake.instead = () => ({ status: 200, body: '{"data":', headers: { 'content-length': '1000' } });
  const client = await fake.client({ timeoutMs: 300 });
  expect(await client.check()).toMatchObject({ valid: false, source: 'none', code: 'NO_ANSWER' });
});

test('no network at the first start: not valid, and a sentence for the person', async () => {
  const fake = await startFakeServer();
  const client = await fake.client({ server: 'http://127.0.0.1:9' });
  const result = await client.check();
  expect(result).toMatchObject({ valid: false, source: 'none', code: 'NO_ANSWER', modules: [] });
  expect(result.message).toMatch(/network/);
  expect(result.problem).toMatch(/ECONNREFUSED|9/);
});

test('a page of a hotel network is no answer', async () => {
  const fake = await startFakeServer();
  fake.instead = () => ({ status: 200, body: '<html>Accept our terms</html>' });
  expect(await (await fake.client()).check()).toMatchObject({ valid: false, code: 'NO_ANSWER' });
});

test.each([
  ['signed by a stranger under the known id', 'BAD_SIGNATURE'],
  ['signed by a key that nobody endorses', 'UNKNOWN_KEY'],
  ['replayed', 'OTHER_NONCE'],
  ['for another machine', 'OTHER_MACHINE'],
  ['for another license', 'OTHER_LICENSE'],
  ['not signed at all', 'not one of a Lanyard server'],
  ['signed without a text', 'not one of a Lanyard server'],
  ['signed with a number', 'not one of a Lanyard server'],
  ['signed by no key', 'not one of a Lanyard server'],
])('an answer that is %s is never valid, and ends nothing', async (how, reason) => {
  const fake = await startFakeServer();
  const stranger = newSigner();
  const otherKey = 'E1111-22222-33333-44444-55559';
  fake.instead = (call) => {
    if (call.path === '/api/v1/keys') return { status: 200, body: { data: [null, stranger] } };
    const facts = fake.decide(call);
    const forged = {
      'signed by a stranger under the known id': { ...stranger.answer(facts), keyId: fake.signer.keyId },
      'signed by a key that nobody endorses': stranger.answer(facts),
      replayed: fake.signer.answer({ ...facts, nonce: '0d6f1c1e-6d7b-4d59-9f1c-0c2f4b9a7e11' }),
      'for another machine': fake.signer.answer({ ...facts, machineId: 'ws-08' }),
      'for another license': fake.signer.answer({
        ...facts,
        license: { ...facts.license, licenseKey: otherKey },
      }),
      'not signed at all': facts,
      'signed without a text': { ...fake.signer.answer(facts), signed: null },
      'signed with a number': { ...fake.signer.answer(facts), signature: 1 },
      'signed by no key': { ...fake.signer.answer(facts), keyId: null },
    }[how];
    return { status: 200, body: { data: { ...forged, valid: true, machineToken: `lym_${'a'.repeat(20)}` } } };
  };
  const client = await fake.client();
  const first = await client.check();
  expect(first).toMatchObject({ valid: false, source: 'none' });
  expect(first.problem).toContain(reason);

  const forgery = fake.instead;
  fake.instead = undefined;
  expect(await client.check()).toMatchObject({ valid: true, source: 'online' });
  fake.instead = forgery;
  fake.code = 'REVOKED';
  expect(await client.check()).toMatchObject({ valid: true, source: 'kept' });
});

test('a status without a signature ends nothing, and its sentence is told if nothing is kept', async () => {
  const fake = await startFakeServer();
  const sentence = 'This machine is enrolled with another key. Ask the vendor to release it.';
  fake.instead = () => ({ status: 409, body: { error: sentence, code: 'WRONG_STATE' } });
  const client = await fake.client();
  expect(await client.check()).toMatchObject({ valid: false, code: 'NOT_ENROLLED', message: sentence });
  fake.instead = undefined;
  await client.check();
  fake.instead = () => ({ status: 401, body: { error: 'The license is revoked.' } });
  expect(await client.check()).toMatchObject({ valid: true, source: 'kept' });
});

test('a signed refusal ends what was kept, also after the old answer is put back', async () => {
  const fake = await startFakeServer();
  const client = await fake.client();
  await client.check();
  const decision = `${client.folder}/${decisionFile}`;
  const before = await readFile(decision, 'utf8');
  fake.clock.at += day;
  fake.code = 'REVOKED';
  expect(await client.check()).toMatchObject({ valid: false, source: 'online', code: 'REVOKED' });
  fake.instead = () => noNetwork;
  expect(await client.check()).toMatchObject({ valid: false, source: 'kept', code: 'REVOKED' });
  await writeFile(decision, before);
  expect(await client.check()).toMatchObject({ valid: false, source: 'none' });
  fake.instead = undefined;
  fake.code = 'VALID';
  fake.clock.at += 1000;
  expect(await client.check()).toMatchObject({ valid: true, source: 'online' });
  fake.instead = () => noNetwork;
  expect(await client.check()).toMatchObject({ valid: true, source: 'kept' });
});

test('what was kept for one license or machine does not count for another', async () => {
  const fake = await startFakeServer();
  const { folder, check } = await fake.client();
  await check();
  fake.instead = () => noNetwork;
  const other = await fake.client({ folder, licenseKey: 'E1111-22222-33333-44444-55559' });
  expect(await other.check()).toMatchObject({ valid: false, code: 'NO_ANSWER' });
  const copied = await fake.client({ folder, machineId: 'ws-08' });
  expect(await copied.check()).toMatchObject({ valid: false, code: 'NO_ANSWER' });
});

test('a clock set back is noticed without the server, and does not matter with it', async () => {
  const fake = await startFakeServer();
  const client = await fake.client();
  await client.check();
  fake.instead = () => noNetwork;
  fake.clock.at += 10 * day;
  expect(await client.check()).toMatchObject({ valid: true, source: 'kept' });
  fake.clock.at -= 2 * 3_600_000;
  const back = await client.check();
  expect(back).toMatchObject({ valid: false, source: 'none', code: 'CLOCK_SET_BACK' });
  expect(back.message).toMatch(/clock/);
  fake.clock.at += 3_600_000 + 1000;
  expect(await client.check()).toMatchObject({ valid: true, source: 'kept' });
  fake.instead = undefined;
  fake.clock.at -= 20 * day;
  expect(await client.check()).toMatchObject({ valid: true, source: 'online' });
});

test('an online check forgets that the clock was ahead', async () => {
  const fake = await startFakeServer();
  const client = await fake.client();
  await client.check();
  fake.instead = () => noNetwork;
  fake.clock.at += 10 * day;
  expect(await client.check()).toMatchObject({ valid: true, source: 'kept' });
  fake.instead = undefined;
  fake.clock.at -= 9 * day;
  await client.check();
  fake.instead = () => noNetwork;
  expect(await client.check()).toMatchObject({ valid: true, source: 'kept' });
});

test('a clock that was far ahead does not lock the machine out afterwards', async () => {
  const fake = await startFakeServer();
  const client = await fake.client();
  await client.check();
  fake.instead = () => noNetwork;
  fake.clock.at += 3000 * day;
  expect(await client.check()).toMatchObject({ valid: false });
  fake.clock.at -= 2999 * day;
  expect(await client.check()).toMatchObject({ valid: true, source: 'kept' });
});

test.each(['VALID', 'EXPIRED'])(
  'an answer %s from a server whose clock was ahead is forgotten with the next one',
  async (code) => {
    const fake = await startFakeServer();
    const right = fake.clock.at;
    const client = await fake.client({ now: () => new Date(right + 3_600_000) });
    await client.check();
    fake.clock.at = right + 500 * day;
    fake.code = code;
    expect(await client.check()).toMatchObject({ source: 'online', code });
    fake.clock.at = right + 3_600_000;
    fake.code = 'VALID';
    expect(await client.check()).toMatchObject({ valid: true, source: 'online' });
    fake.instead = () => noNetwork;
    expect(await client.check()).toMatchObject({ valid: true, source: 'kept' });
  },
);

test('a valid answer after a refusal is kept, also where it came from a server whose clock is behind', async () => {
  const fake = await startFakeServer();
  const start = fake.clock.at;
  const client = await fake.client({ now: () => new Date(start) });
  const decision = `${client.folder}/${decisionFile}`;
  await client.check();
  const before = await readFile(decision, 'utf8');
  fake.clock.at = start + 3 * 60_000;
  fake.code = 'REVOKED';
  expect(await client.check()).toMatchObject({ valid: false, code: 'REVOKED' });
  fake.clock.at = start + 60_000;
  fake.code = 'VALID';
  expect(await client.check()).toMatchObject({ valid: true, source: 'online' });
  fake.instead = () => noNetwork;
  expect(await client.check()).toMatchObject({ valid: true, source: 'kept' });
  await writeFile(decision, before);
  expect(await client.check()).toMatchObject({ valid: false, source: 'none' });
});

test('a new key is followed through endorsements, kept, and a key that is written into the folder is not', async () => {
  const fake = await startFakeServer();
  const [old, next, last, thief] = [fake.signer, newSigner(), newSigner(), newSigner()];
  fake.signer = last;
  fake.keys = [next.endorse(last), old.endorse(next), old];
  const client = await fake.client({ publicKeys: [old.publicKeyPem] });
  expect(await client.check()).toMatchObject({ valid: true, source: 'online' });
  await client.check();
  expect(fake.calls.filter(({ path }) => path === '/api/v1/keys')).toHaveLength(1);

  fake.instead = () => noNetwork;
  const again = await fake.client({ folder: client.folder, publicKeys: [old.publicKeyPem] });
  expect(await again.check()).toMatchObject({ valid: true, source: 'kept' });

  await writeFile(
    `${client.folder}/keys.json`,
    JSON.stringify([thief, thief.endorse(thief), thief.endorse(last)]),
  );
  const robbed = await fake.client({ folder: client.folder, publicKeys: [old.publicKeyPem] });
  expect(await robbed.check()).toMatchObject({ valid: false });
});

test('a key that another window followed, or that a virus scanner held at the start, is found without the server', async () => {
  const fake = await startFakeServer();
  const [old, next] = [fake.signer, newSigner()];
  const publicKeys = [old.publicKeyPem];
  const client = await fake.client({ publicKeys });
  const { folder } = client;
  expect(await client.check()).toMatchObject({ valid: true, source: 'online' });
  fake.signer = next;
  fake.keys = [old.endorse(next), old];
  expect(await (await fake.client({ folder, publicKeys })).check()).toMatchObject({ source: 'online' });
  fake.instead = () => noNetwork;
  expect(await client.check()).toMatchObject({ valid: true, source: 'kept' });

  let isHeld = true;
  const readFileSync = ((...args: Parameters<typeof nodeFs.readFileSync>) => {
    if (isHeld && String(args[0]).endsWith('keys.json')) throw new Error('busy');
    return nodeFs.readFileSync(...args);
  }) as Files['readFileSync'];
  const held = await fake.client({ folder, publicKeys }, { files: { ...nodeFs, readFileSync } });
  expect(await held.check()).toMatchObject({ valid: false });
  isHeld = false;
  expect(await held.check()).toMatchObject({ valid: true, source: 'kept' });
});

test.each([
  ['a status', { status: 503, body: { error: 'Busy' } }, '503'],
  ['a page of a hotel network', { status: 200, body: '<html>' }, 'without its signing keys'],
  ['nothing', 'hang' as const, '1000 ms'],
])('a new key whose endorsement is asked for, and %s is the answer: no answer', async (_, keys, problem) => {
  const fake = await startFakeServer();
  const [old, next] = [fake.signer, newSigner()];
  fake.signer = next;
  fake.keys = [old.endorse(next), old];
  fake.instead = ({ path }) => (path === '/api/v1/keys' ? keys : undefined);
  const publicKeys = [old.publicKeyPem];
  const client = await fake.client({ publicKeys, ...(keys === 'hang' && { timeoutMs: 1000 }) });
  expect(await client.check()).toMatchObject({
    valid: false,
    code: 'NO_ANSWER',
    problem: expect.stringContaining(problem) as string,
  });
  fake.instead = undefined;
  const { folder } = client;
  expect(await (await fake.client({ folder, publicKeys })).check()).toMatchObject({ valid: true });
});

test('the next question is spread, comes before the end, and not before the server wants it', () => {
  const now = () => new Date('2026-11-22T12:00:00Z');
  const hour = 3_600_000;
  const at = now().getTime();
  const online = { valid: true, source: 'online' as const, expiresAt: at + 14 * day, at };
  const after = (random: number, verdict: Parameters<typeof askAgainAt>[1], retryAfter?: number) =>
    (askAgainAt({ now, random: () => random }, verdict, retryAfter).getTime() - at) / hour;
  expect(after(0, online)).toBe(3);
  expect(after(1, online)).toBe(5);
  const asked = Array.from({ length: 200 }, () => after(Math.random(), online));
  expect(new Set(asked.map((hours) => Math.round(hours * 100))).size).toBeGreaterThan(50);
  expect(after(1, { ...online, expiresAt: at + hour })).toBeLessThanOrEqual(1);
  expect(after(0, { ...online, source: 'kept' })).toBe(0.25);
  expect(after(0, { valid: false, source: 'online', expiresAt: null, at }, 7200)).toBe(2);
  expect(after(0, { ...online, expiresAt: at })).toBeGreaterThan(0);
});

test('a machine whose clock is far ahead asks no more often than others', async () => {
  const fake = await startFakeServer();
  const now = fake.clock.at + 40 * day;
  const result = await (await fake.client({ now: () => new Date(now) })).check();
  expect(result).toMatchObject({ valid: true, source: 'online' });
  expect(Date.parse(result.askAgainAt) - now).toBeGreaterThanOrEqual(3 * 3_600_000);
});

test('a busy server says when to come back', async () => {
  const fake = await startFakeServer();
  fake.instead = () => ({ status: 429, body: { error: 'Too many' }, headers: { 'retry-after': '7200' } });
  const result = await (await fake.client()).check();
  expect(result).toMatchObject({ valid: false, code: 'NO_ANSWER', message: 'Too many' });
  expect(Date.parse(result.askAgainAt)).toBeGreaterThanOrEqual(fake.clock.at + 7_200_000);
  // a proxy that says nothing leaves the words of the client
  for (const status of [403, 503]) {
    fake.instead = () => ({ status, body: { error: ' ' } });
    const said = await (await fake.client()).check();
    expect(said).toMatchObject({ code: 'NO_ANSWER', message: expect.stringContaining('server') as string });
  }
});

test('what a proxy says about coming back moves the next question neither behind the end nor by days', () => {
  const now = () => new Date('2026-11-22T12:00:00Z');
  const hour = 3_600_000;
  const at = now().getTime();
  for (const random of [0, 0.5, 1]) {
    const after = (expiresAt: number | null) => {
      const verdict = { valid: expiresAt !== null, source: 'kept' as const, expiresAt, at };
      return (askAgainAt({ now, random: () => random }, verdict, 999_999).getTime() - at) / hour;
    };
    expect(after(at + hour)).toBeLessThanOrEqual(1);
    expect(after(at + 14 * 24 * hour)).toBeLessThanOrEqual(6);
    expect(after(null)).toBeLessThanOrEqual(6);
    expect(after(null)).toBeGreaterThanOrEqual(4);
  }
});
