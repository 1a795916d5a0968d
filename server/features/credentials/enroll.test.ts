import { createHash, createPublicKey, verify } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { credentials as calls } from '../../../contract/credentials.ts';
import { keys } from '../../../contract/keys.ts';
import type { License } from '../../../contract/licenses.ts';
import { machines } from '../../../contract/machines.ts';
import { validation } from '../../../contract/validation.ts';
import {
  deactivate,
  enrollOn,
  machinesOf,
  makeApiKey,
  makeLicense,
  makeMachineKey,
  revoke,
  signedEnrollment,
  validateOn,
  type Enrolled,
} from '../../../tests/factories.ts';
import {
  auditOf,
  eventually,
  hours,
  minutes,
  movableClock,
  numbers,
  startTestServer,
  startTwin,
  type TestServer,
} from '../../../tests/harness.ts';
import { machineRow } from '../../../tests/rows.ts';
import { openHolder } from '../../../tests/waiting-calls.ts';
import { newLicenseKey } from '../licenses/license-key.ts';

const settings = { config: { trustProxy: ['127.0.0.1'] } };
const server = await startTestServer(settings);
const staff = server.api((await server.signInAs('super_admin')).byCookie);
const stranger = server.api();

type Body = Parameters<typeof stranger.call<typeof calls.enroll>>[1]['body'];
const enroll = (body: Body, headers: Record<string, string> = {}, api = stranger) =>
  api.call(calls.enroll, { body }, headers);
/** The body of a machine with a new key, with a signed nonce or without one. */
const made = ({ licenseKey }: Pick<License, 'licenseKey'>, machineId: string) =>
  signedEnrollment(licenseKey, machineId, makeMachineKey());
const unsigned = ({ licenseKey }: Pick<License, 'licenseKey'>, machineId: string) => ({
  licenseKey,
  machineId,
  publicKey: makeMachineKey().publicKey,
});
const release = ({ licenseKey }: License, { machineId, headers }: Pick<Enrolled, 'machineId' | 'headers'>) =>
  server.api({ headers }).ok(validation.releaseSeat, { body: { licenseKey, machineId } });
const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status).toSorted();
/** Fails unless the nonce of this body counts no longer. */
async function expectUsed(body: Body): Promise<void> {
  const replayed = await enroll(body);
  expect([replayed.status, replayed.body.details?.[0]?.path]).toEqual([422, 'nonce']);
}
const inAnHour = () => new Date(server.clock.now().getTime() + hours(1));
/** What staff are told of the limits of a license. */
const toldOf = async ({ licenseId }: Pick<License, 'licenseId'>, on: TestServer = server) =>
  (await auditOf(on, licenseId))
    .filter((entry) => entry.event_type === 'license.enrollment_limit_reached')
    .map((entry) => entry.changes_summary.split(': ')[1]);

describe('enrolling a machine', () => {
  test('takes a seat and answers the signed decision and, once, a token', async () => {
    const license = await makeLicense(staff);
    const answer = await enroll({ ...unsigned(license, 'ct-1'), hostname: 'CT 1', nonce: 'n-1' });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const { machineToken, signed, signature, keyId, ...said } = answer.body.data;
    expect(machineToken).toMatch(/^lym_[a-z0-9]{12}_[a-z0-9]{43}$/);
    expect(said).toMatchObject({ valid: true, code: 'VALID', machineId: 'ct-1', nonce: 'n-1' });
    expect(said.activation).toMatchObject({ status: 'active', activationType: 'automatic' });
    // the decision is signed like that of a validation, and the token is no part of it
    expect(JSON.parse(signed)).toEqual(said);
    const published = (await stranger.ok(keys.published)).find((key) => key.keyId === keyId)!;
    const key = createPublicKey(published.publicKeyPem);
    expect(verify(null, Buffer.from(signed), key, Buffer.from(signature, 'base64'))).toBe(true);
    const [machine] = await machinesOf(staff, license);
    expect(machine).toMatchObject({ machineId: 'ct-1', hostname: 'CT 1', clonedAt: null });
    expect(machine!.enrolledAt).toBe(server.clock.now().toISOString());
  });

  test('stores only a hash of the secret, and writes neither token nor nonce into the audit log', async () => {
    const license = await makeLicense(staff);
    const key = makeMachineKey();
    const body = signedEnrollment(license.licenseKey, 'hashed', key, 'a-nonce-to-find');
    const { machineToken, activation } = (await enroll(body)).body.data;
    const secret = machineToken!.split('_')[2]!;
    const row = await server.db
      .selectFrom('machine_credentials')
      .selectAll()
      .where('activation_id', '=', activation!.activationId)
      .executeTakeFirstOrThrow();
    expect(row.secret_hash).toEqual(createHash('sha256').update(secret).digest());
    expect(row.public_key.toString('base64url')).toBe(key.publicKey);
    const entries = await auditOf(server, activation!.activationId);
    expect(entries.map((entry) => entry.event_type)).toEqual(['activation.created', 'activation.enrolled']);
    expect(entries[1]).toMatchObject({
      user_email: null,
      changes_summary: `Machine hashed on ${license.licenseKey}: enrolled`,
      after: { publicKey: key.publicKey },
    });
    expect(JSON.stringify(entries)).not.toMatch(new RegExp(`${secret}|a-nonce-to-find`));
  });

  test('is decided like a validation by nobody: a staff cookie does not reactivate the machine', async () => {
    const license = await makeLicense(staff);
    const { activation } = await validateOn(staff, license, 'ct-1');
    await deactivate(staff, activation!);
    const { data } = (await enroll(unsigned(license, 'ct-1'), {}, staff)).body;
    expect(data).toMatchObject({ code: 'MACHINE_DEACTIVATED', machineToken: null });
  });

  test('is refused with the code and without a token where a validation would be', async () => {
    const license = await makeLicense(staff, { maxActivations: 1 });
    const { key } = await enrollOn(server, license, 'first');
    const body = unsigned(license, 'second');
    const full = await enroll(body);
    expect(full.status).toBe(200);
    expect(full.body.data).toMatchObject({ code: 'TOO_MANY_ACTIVATIONS', machineToken: null });
    await revoke(staff, license);
    for (const refused of [body, signedEnrollment(license.licenseKey, 'first', key)])
      expect((await enroll(refused)).body.data).toMatchObject({ code: 'REVOKED', machineToken: null });
    expect(await machinesOf(staff, license)).toHaveLength(1);
  });

  test.each([
    ['publicKey', { publicKey: 'A'.repeat(42) }],
    ['publicKey', { publicKey: `${'A'.repeat(42)}+` }],
    ['nonce', { nonce: 'two\nlines' }],
    ['signature', { signature: 'A'.repeat(85) }],
  ])('takes no wrong %s: %j', async (field, wrong) => {
    const license = await makeLicense(staff);
    const answer = await enroll({ ...made(license, 'ct-1'), ...wrong });
    expect([answer.status, answer.body.details[0]!.path]).toEqual([400, field]);
  });

  test('shows staff on the page of the machine, and of no other, since when it is proven', async () => {
    const license = await makeLicense(staff);
    await validateOn(server.api(await makeApiKey(staff)), license, 'named machine');
    await eventually(async () => expect(await machineRow(server, 'named machine')).toBeDefined());
    const { activationId } = await enrollOn(server, license, 'shown machine');
    const shown = await staff.ok(machines.get, { params: { id: 'shown machine' } });
    const enrolledAt = server.clock.now().toISOString();
    expect(shown.machine.provenAt).toBe(enrolledAt);
    expect(shown.activations).toMatchObject([{ activationId, enrolledAt, clonedAt: null }]);
    expect((await machineRow(server, 'named machine'))!.proven_at).toBeNull();
  });
});

describe('the key of a machine', () => {
  test('that signs a wrong text is refused, and no seat is taken', async () => {
    const license = await makeLicense(staff);
    const [key, other] = [makeMachineKey(), makeMachineKey()];
    const good = signedEnrollment(license.licenseKey, 'ct-1', key);
    const wrong = [
      { ...good, machineId: 'ct-2' },
      { ...good, nonce: `${good.nonce}x` },
      { ...good, publicKey: other.publicKey },
      { ...good, signature: signedEnrollment(license.licenseKey, 'ct-1', other).signature },
      { ...good, publicKey: 'A'.repeat(43) },
    ];
    for (const body of wrong) {
      const answer = await enroll(body);
      expect([answer.status, answer.body.code], answer.text).toEqual([422, 'RULE_VIOLATED']);
    }
    expect(await machinesOf(staff, license)).toEqual([]);
  });

  test('is the only one that can enroll the machine again, with a signed nonce that counts once', async () => {
    const license = await makeLicense(staff);
    const machine = await enrollOn(server, license, 'the only key');
    const { licenseKey } = license;
    const foreign = await enroll(made(license, 'the only key'));
    const error = 'This machine is enrolled with another key. Ask the vendor to release it.';
    expect([foreign.status, foreign.body]).toMatchObject([409, { code: 'WRONG_STATE', error }]);
    const { publicKey } = machine.key;
    const bare = await enroll({ licenseKey, machineId: 'the only key', publicKey });
    expect([bare.status, bare.body.details[0]!.path]).toEqual([422, 'signature']);
    const again = signedEnrollment(licenseKey, 'the only key', machine.key);
    const token = (await enroll(again)).body.data.machineToken;
    expect(token).not.toBe(machine.token);
    await expectUsed(again);
    // a stranger's attempts are no activity of the machine
    expect((await machinesOf(staff, license))[0]!.enrolledAt).not.toBeNull();
    expect((await auditOf(server, machine.activationId)).map((entry) => entry.changes_summary)).toEqual([
      `Machine the only key on ${licenseKey}: activated`,
      `Machine the only key on ${licenseKey}: enrolled`,
      `Machine the only key on ${licenseKey}: enrolled again, which replaced its token`,
    ]);
  });

  test('may name the license as its user types it, and signs it as responses write it', async () => {
    const license = await makeLicense(staff);
    const { key } = await enrollOn(server, license, 'typed by hand');
    const signed = signedEnrollment(license.licenseKey, 'typed by hand', key);
    const typed = license.licenseKey.toLowerCase().replaceAll('-', ' ');
    const answer = await enroll({ ...signed, licenseKey: typed });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.data.machineToken).not.toBeNull();
  });

  test('a nonce counts once among 20 calls at once, on two processes', async () => {
    const license = await makeLicense(staff);
    const machine = await enrollOn(server, license, 'ct-1');
    const twin = await startTwin(server, settings);
    const apis = [stranger, twin.api()];
    const body = signedEnrollment(license.licenseKey, 'ct-1', machine.key);
    const answers = await Promise.all(numbers(20).map((i) => enroll(body, {}, apis[i % 2])));
    expect(statuses(answers)).toEqual([200, ...numbers(19).map(() => 422)]);
  });

  test.each(['the machine gave its seat back', 'staff ended the enrollment'])(
    'signs no nonce that counts again after %s, and may sign a new one',
    async (what) => {
      const license = await makeLicense(staff);
      const { licenseKey } = license;
      const key = makeMachineKey();
      const captured = signedEnrollment(licenseKey, 'ct-1', key);
      const { machineToken, activation } = (await enroll(captured)).body.data;
      if (what.startsWith('staff'))
        await staff.ok(calls.end, { params: { activationId: activation!.activationId } });
      else await release(license, { machineId: 'ct-1', headers: { 'x-machine-token': machineToken! } });
      for (const _ of ['before it returns', 'and after']) {
        await expectUsed(captured);
        expect((await enroll(signedEnrollment(licenseKey, 'ct-1', key))).status).toBe(200);
      }
    },
  );

  test.each([
    ['all seats are taken', 200],
    ['another key is known', 409],
    ['the license has had its enrollments', 429],
  ])('signs no nonce that counts later where %s', async (why, status) => {
    const license = await makeLicense(staff, { maxActivations: 3 });
    const { licenseKey } = license;
    const key = makeMachineKey();
    const captured = signedEnrollment(licenseKey, 'ct-1', key);
    const others = [];
    for (const id of why.startsWith('another') ? ['ct-1'] : ['a', 'b', 'c'])
      others.push(await enrollOn(server, license, id));
    const late = { config: settings.config, clock: movableClock(inAnHour()) };
    const open = await startTwin(server, why.startsWith('all') ? late : settings);
    const refused = await enroll(captured, {}, open.api());
    expect([refused.status, refused.body.data?.machineToken ?? null]).toEqual([status, null]);
    for (const machine of others) await release(license, machine);
    await expectUsed(captured);
  });

  test('enrolls its machine again after more than a thousand times', async () => {
    const license = await makeLicense(staff);
    const { licenseId, licenseKey } = license;
    const { key } = await enrollOn(server, license, 'ct-1');
    const public_key = Buffer.from(key.publicKey, 'base64url');
    const old = numbers(1000).map((i) => ({
      license_id: licenseId,
      public_key,
      nonce_hash: createHash('sha256').update(`old-${i}`).digest(),
    }));
    await server.db.insertInto('used_nonces').values(old).execute();
    expect((await enroll(signedEnrollment(licenseKey, 'ct-1', key))).status).toBe(200);
    expect((await enroll(signedEnrollment(licenseKey, 'ct-1', key, 'old-7'))).status).toBe(422);
  });

  test('two keys for one new machine at once: one wins', async () => {
    const license = await makeLicense(staff, { maxActivations: 20 });
    const answers = await Promise.all(numbers(10).map(() => enroll(made(license, 'ct-1'))));
    expect(statuses(answers)).toEqual([200, ...numbers(9).map(() => 409)]);
    // the others used up none of the ten that may be new in this hour
    const next = await Promise.all(numbers(10).map((i) => enroll(made(license, `m-${i}`))));
    expect(statuses(next)).toEqual([...numbers(9).map(() => 200), 429]);
  });

  test('is ended once: who waits for somebody who ends it is told so', async () => {
    const { activationId } = await enrollOn(server, await makeLicense(staff), 'ct-ended-once');
    const holder = await openHolder(server);
    const answer = await holder.whileWaiting(
      ['select from activations where activation_id = $1 for update', activationId],
      () => staff.call(calls.end, { params: { activationId } }),
      () => holder.query('delete from machine_credentials where activation_id = $1', activationId),
    );
    expect(answer.status).toBe(409);
    expect((await auditOf(server, activationId)).at(-1)!.event_type).not.toBe('activation.enrollment_ended');
  });

  test('is a new one after the machine gave its seat back, or staff ended the enrollment', async () => {
    const license = await makeLicense(staff);
    const first = await enrollOn(server, license, 'ct-1');
    await release(license, first);
    const second = await enrollOn(server, license, 'ct-1');
    expect(second.activationId).toBe(first.activationId);
    const params = { activationId: first.activationId };
    expect((await staff.call(calls.end, { params })).status).toBe(204);
    expect((await machinesOf(staff, license))[0]).toMatchObject({ status: 'active', enrolledAt: null });
    await enrollOn(server, license, 'ct-1');
  });

  test('proves a machine that an API key had only named', async () => {
    const license = await makeLicense(staff, { maxActivations: 1 });
    const desktop = server.api(await makeApiKey(staff));
    const { activation } = await validateOn(desktop, license, 'claimed');
    const { activationId } = await enrollOn(server, license, 'claimed');
    expect(activationId).toBe(activation!.activationId);
  });
});

test('staff end the enrollment of a machine that has one, audited', async () => {
  const license = await makeLicense(staff);
  const { activationId } = await enrollOn(server, license, 'ct-1');
  const params = { activationId };
  await staff.ok(calls.end, { params });
  const again = await staff.call(calls.end, { params });
  expect([again.status, again.body.error]).toEqual([409, 'Machine is not enrolled.']);
  expect((await auditOf(server, activationId)).at(-1)).toMatchObject({
    event_type: 'activation.enrollment_ended',
    changes_summary: `Machine ct-1 on ${license.licenseKey}: enrollment ended`,
  });
  const nowhere = { activationId: '01920000-0000-7000-8000-000000000000' };
  expect((await staff.call(calls.end, { params: nowhere })).status).toBe(404);
});

describe('the limits of enrollment', () => {
  test('60 machines at once on 10 of 16 seats, on two processes: no more than 10 get a seat and a token', async () => {
    const open = { config: { ...settings.config, enrollmentsPerLicenseHour: 1000 } };
    const twins = [await startTwin(server, open), await startTwin(server, open)];
    const license = await makeLicense(staff, { maxActivations: 16 });
    const desktop = server.api(await makeApiKey(staff));
    for (const i of numbers(6)) await validateOn(desktop, license, `seated ${i}`);
    const answers = await Promise.all(
      numbers(60).map((i) => enroll(made(license, `m-${i}`), {}, twins[i % 2]!.api())),
    );
    const results = answers.filter(({ status }) => status === 200).map(({ body }) => body.data);
    const tokens = results.filter(({ machineToken }) => machineToken !== null);
    expect(tokens).toHaveLength(8);
    expect(tokens.every(({ valid }) => valid)).toBe(true);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(52);
    const later = await startTwin(server, { ...open, clock: movableClock(inAnHour()) });
    const rest = await Promise.all(
      numbers(20).map((i) => enroll(made(license, `late-${i}`), {}, later.api())),
    );
    expect(rest.filter(({ body }) => body.data?.machineToken)).toHaveLength(2);
    expect(await machinesOf(staff, license)).toHaveLength(16);
  });

  test('100 enrollments of a license in an hour on two processes, or one for each of its seats', async () => {
    const few = { config: { ...settings.config, enrollmentsPerLicenseHour: 10 } };
    const twins = [await startTwin(server, few), await startTwin(server, few)];
    /** Machines with a seat enroll 30 times. */
    const loop = async (maxActivations: number) => {
      const license = await makeLicense(staff, { maxActivations });
      const seated = await Promise.all(numbers(3).map((i) => enrollOn(server, license, `m-${i}`)));
      const answers = await Promise.all(
        numbers(30).map((i) => {
          const { machineId, key } = seated[i % 3]!;
          const body = signedEnrollment(license.licenseKey, machineId, key);
          return enroll(body, { 'x-forwarded-for': `203.0.113.${i}` }, twins[i % 2]!.api());
        }),
      );
      expect(answers.filter(({ status }) => status !== 200 && status !== 429)).toEqual([]);
      return { license, answers, passed: answers.filter(({ status }) => status === 200).length };
    };
    const small = await loop(5);
    expect(small.passed).toBe(10);
    const refused = small.answers.find(({ status }) => status === 429)!;
    expect(refused.headers.get('retry-after')).toBe('1800');
    expect(refused.body.error).toBe(
      'Machines have enrolled 10 times on this license in this hour, which is the limit. Try again in 30 minutes.',
    );
    expect(await toldOf(small.license)).toEqual(['reached its limit of 10 enrollments an hour']);
    expect((await loop(25)).passed).toBe(25);
  });

  test('new machines get half of the seats in an hour, so no loop takes all; the others are not concerned', async () => {
    const own = await startTestServer(settings);
    const ownStaff = own.api((await own.signInAs('super_admin')).byCookie);
    const ownTwin = await startTwin(own, settings);
    const license = await makeLicense(ownStaff, { maxActivations: 10 });
    const { licenseKey } = license;
    const known = await enrollOn(own, license, 'known');
    const invent = async (n: number) => {
      const answers = await Promise.all(
        numbers(n).map((i) => {
          const body = made(license, `made up ${own.clock.now().getTime()} ${i}`);
          return enroll(body, { 'x-forwarded-for': `203.0.113.${i}` }, [own, ownTwin][i % 2]!.api());
        }),
      );
      return answers.filter(({ body }) => body.data?.machineToken).length;
    };
    expect(await invent(40)).toBe(4);
    expect(await machinesOf(ownStaff, license)).toHaveLength(5);
    expect(await toldOf(license, own)).toEqual(['reached its limit of 5 new machines an hour']);
    // a machine that has its seat enrolls again, and one with an API key gets a seat
    expect((await enroll(signedEnrollment(licenseKey, 'known', known.key), {}, own.api())).status).toBe(200);
    expect((await validateOn(own.api(await makeApiKey(ownStaff)), license, 'with a key')).code).toBe('VALID');
    own.clock.advance(minutes(30));
    const real = await enroll(made(license, 'real'), {}, own.api());
    expect(real.body.data).toMatchObject({ code: 'VALID' });
  });

  test('an enrollment that failed while the license was locked uses up none of them', async () => {
    const license = await makeLicense(staff, { maxActivations: 6 });
    const holder = await openHolder(server);
    await holder.query('begin');
    await holder.query('select from licenses where license_id = $1 for update', license.licenseId);
    const { config } = server.context;
    const { databaseLimitFactor } = config;
    config.databaseLimitFactor = 1;
    const failed = await Promise.all(numbers(3).map((i) => enroll(made(license, `m-${i}`)))).finally(
      () => (config.databaseLimitFactor = databaseLimitFactor),
    );
    expect(statuses(failed)).toEqual([503, 503, 503]);
    await holder.query('rollback');
    for (const i of numbers(3)) expect((await enroll(made(license, `m-${i}`))).status).toBe(200);
    expect((await enroll(made(license, 'one more'))).status).toBe(429);
  });

  test('one nonce for several machine ids is no way around it: a seat that was taken counts', async () => {
    const license = await makeLicense(staff, { maxActivations: 6 });
    const key = makeMachineKey();
    const holder = await openHolder(server);
    const answers = await holder.whileWaiting(
      ['select from licenses where license_id = $1 for update', license.licenseId],
      () =>
        Promise.all(
          numbers(3).map((i) => enroll(signedEnrollment(license.licenseKey, `m-${i}`, key, 'one'))),
        ),
    );
    expect(statuses(answers)).toEqual([200, 422, 422]);
    await Promise.all(numbers(3).map((i) => enroll(made(license, `one more ${i}`))));
    expect(await machinesOf(staff, license)).toHaveLength(3);
  });

  test('giving seats back and enrolling again is no way around it', async () => {
    const license = await makeLicense(staff, { maxActivations: 6 });
    const { licenseKey } = license;
    const machineKeys = numbers(3).map(makeMachineKey);
    for (const [i, key] of machineKeys.entries())
      await release(license, await enrollOn(server, license, `m-${i}`, { key }));
    for (const [i, key] of machineKeys.entries())
      expect((await enroll(signedEnrollment(licenseKey, `m-${i}`, key))).status).toBe(429);
    expect((await machinesOf(staff, license)).filter(({ status }) => status === 'active')).toEqual([]);
  });

  test('refused enrollments have a limit of their own, and beyond it leave no record', async () => {
    const few = await startTwin(server, { config: { ...settings.config, enrollmentsPerLicenseHour: 3 } });
    const license = await makeLicense(staff, { maxActivations: 1 });
    const { licenseKey, licenseId } = license;
    const first = await enrollOn(few, license, 'first');
    const forged = { ...made(license, 'x'), machineId: 'y' };
    const second = () => enroll(made(license, 'second'), {}, few.api());
    for (const _ of numbers(15)) {
      expect((await enroll(forged, {}, few.api())).status).toBe(422);
      expect((await second()).body.data).toMatchObject({ code: 'TOO_MANY_ACTIVATIONS', machineToken: null });
    }
    for (const _ of numbers(5)) {
      expect((await enroll(forged, {}, few.api())).status).toBe(429);
      expect((await second()).status).toBe(429);
    }
    expect(await toldOf(license)).toEqual(['reached its limit of 30 refused enrollments an hour']);
    const records = server.db.selectFrom('validations').select('code').where('license_id', '=', licenseId);
    await eventually(async () => expect(await records.execute()).toHaveLength(16));
    // none of them was one of the enrollments of the license
    const again = () => enroll(signedEnrollment(licenseKey, 'first', first.key), {}, few.api());
    expect([(await again()).status, (await again()).status, (await again()).status]).toEqual([200, 200, 200]);
    expect((await again()).status).toBe(429);
  });

  test('30 unknown keys of an address in 15 minutes, however many are tried at once', async () => {
    const own = await startTestServer(settings);
    const ownStaff = own.api(await own.signInAs('super_admin'));
    const license = await makeLicense(ownStaff);
    const guess = (licenseKey: string, address: string) =>
      enroll(unsigned({ licenseKey }, address), { 'x-forwarded-for': address }, own.api());
    const guessed = await Promise.all(
      numbers(100).map((i) => guess(i % 2 ? newLicenseKey('enterprise') : `no key ${i}`, `2001:db8::${i}`)),
    );
    const answered = guessed.filter(({ status }) => status === 200);
    expect(answered).toHaveLength(30);
    expect(new Set(guessed.map(({ status }) => status))).toEqual(new Set([200, 429]));
    expect(new Set(answered.map(({ body }) => body.data.machineToken))).toEqual(new Set([null]));
    const late = await guess(newLicenseKey('enterprise'), '2001:db8::ffff');
    expect([late.status, late.headers.get('retry-after')]).toEqual([429, '900']);
    const told = 'Too many unknown license keys from this address. Try again in 15 minutes.';
    expect(late.body.error).toBe(told);
    // nobody stops the machines of a hospital that share the address, and other addresses are not concerned
    const enrolled = await enroll(made(license, 'new'), { 'x-forwarded-for': '2001:db8::1' }, own.api());
    expect(enrolled.body.data).toMatchObject({ code: 'VALID' });
    expect((await guess(newLicenseKey('enterprise'), '198.51.100.7')).status).toBe(200);
    const { rows } = await own.pool.query('select from login_failures');
    expect(rows.length, 'guesses beyond the limit are not stored').toBeLessThan(110);
    own.clock.advance(minutes(15));
    expect((await guess(newLicenseKey('enterprise'), '2001:db8::fffe')).status).toBe(200);
  });

  test('machines of a deleted license that keep asking are no guessing, up to 100 times', async () => {
    const old = newLicenseKey('enterprise');
    const ask = (licenseKey: string) =>
      enroll(made({ licenseKey }, 'old'), { 'x-forwarded-for': '203.0.113.99' });
    const answers = await Promise.all(numbers(120).map(() => ask(old.toLowerCase())));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(100);
    expect((await ask(old)).status).toBe(429);
    expect((await ask(newLicenseKey('enterprise'))).body.data).toMatchObject({ code: 'NOT_FOUND' });
  });
});

test('a repeated Idempotency-Key does not show a token again', async () => {
  const license = await makeLicense(staff);
  const body = made(license, 'ct-1');
  const once = { 'idempotency-key': 'e-1' };
  expect((await enroll(body, once)).status).toBe(200);
  expect((await enroll(body, once)).status).toBe(422);
  // Anyone may enroll, so a stored token would be anyone's.
  const { rowCount } = await server.pool.query(`select from idempotency_keys where key = 'e-1'`);
  expect(rowCount).toBe(0);
});

test('a refused machine is answered also when its license is deleted meanwhile', async () => {
  const license = await makeLicense(staff);
  await revoke(staff, license);
  const holder = await openHolder(server);
  const answer = await holder.whileWaiting(
    ['delete from licenses where license_id = $1', license.licenseId],
    () => enroll(made(license, 'last words')),
  );
  expect([answer.status, answer.body.data]).toMatchObject([200, { code: 'REVOKED', machineToken: null }]);
});

test('a machine whose enrollment was ended, and that enrolls again, is proven since the first time', async () => {
  const license = await makeLicense(staff);
  const { activationId } = await enrollOn(server, license, 'proven twice');
  const first = server.clock.now();
  await staff.ok(calls.end, { params: { activationId } });
  server.clock.advance(minutes(1));
  await enrollOn(server, license, 'proven twice');
  expect((await machineRow(server, 'proven twice'))!.proven_at).toEqual(first);
});
