import { createHash, createPublicKey, verify } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { credentials as calls } from '../../../contract/credentials.ts';
import { keys } from '../../../contract/keys.ts';
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
} from '../../../tests/factories.ts';
import { auditOf, minutes, startTestServer, startTwin } from '../../../tests/harness.ts';
import { newLicenseKey } from '../licenses/license-key.ts';

const settings = { config: { trustProxy: ['127.0.0.1'] } };
const server = await startTestServer(settings);
const staff = server.api((await server.signInAs('super_admin')).byCookie);
const stranger = server.api();
afterAll(() => server.close());

type Body = Parameters<typeof stranger.call<typeof calls.enroll>>[1]['body'];
const enroll = (body: Body, headers: Record<string, string> = {}, api = stranger) =>
  api.call(calls.enroll, { body }, headers);
const times = (n: number) => Array.from({ length: n }, (_, i) => i);

describe('enrolling a machine', () => {
  test('takes a seat and answers the signed decision and, once, a token', async () => {
    const license = await makeLicense(staff);
    const { publicKey } = makeMachineKey();
    const body = { licenseKey: license.licenseKey, machineId: 'ct-1', publicKey, hostname: 'CT 1' };
    const answer = await enroll({ ...body, nonce: 'n-1' });
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
    const body = signedEnrollment(license.licenseKey, 'ct-1', key, 'a-nonce-to-find');
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
      changes_summary: `Machine ct-1 on ${license.licenseKey}: enrolled`,
      after: { publicKey: key.publicKey },
    });
    expect(JSON.stringify(entries)).not.toMatch(new RegExp(`${secret}|a-nonce-to-find`));
  });

  test('is decided like a validation by nobody: a staff cookie does not reactivate the machine', async () => {
    const license = await makeLicense(staff);
    const { activation } = await validateOn(staff, license, 'ct-1');
    await deactivate(staff, activation!);
    const body = { licenseKey: license.licenseKey, machineId: 'ct-1', publicKey: makeMachineKey().publicKey };
    expect((await enroll(body, {}, staff)).body.data).toMatchObject({
      code: 'MACHINE_DEACTIVATED',
      machineToken: null,
    });
  });

  test('is refused with the code and without a token where a validation would be', async () => {
    const license = await makeLicense(staff, { maxActivations: 1 });
    await enrollOn(server, license, 'first');
    const body = {
      licenseKey: license.licenseKey,
      machineId: 'second',
      publicKey: makeMachineKey().publicKey,
    };
    const full = await enroll(body);
    expect([full.status, full.body.data.code, full.body.data.machineToken]).toEqual([
      200,
      'TOO_MANY_ACTIVATIONS',
      null,
    ]);
    await revoke(staff, license);
    expect((await enroll(body)).body.data).toMatchObject({ code: 'REVOKED', machineToken: null });
    expect(
      await server.db
        .selectFrom('activations')
        .select('machine_id')
        .where('license_id', '=', license.licenseId)
        .execute(),
    ).toHaveLength(1);
  });

  test.each([
    ['publicKey', { publicKey: 'A'.repeat(42) }],
    ['publicKey', { publicKey: `${'A'.repeat(42)}+` }],
    ['nonce', { nonce: 'two\nlines' }],
    ['signature', { signature: 'A'.repeat(85) }],
  ])('takes no wrong %s: %j', async (field, wrong) => {
    const license = await makeLicense(staff);
    const good = signedEnrollment(license.licenseKey, 'ct-1', makeMachineKey());
    const answer = await enroll({ ...good, ...wrong });
    expect([answer.status, answer.body.details[0]!.path]).toEqual([400, field]);
  });

  test('shows staff on the page of the machine since when it is proven', async () => {
    const license = await makeLicense(staff);
    const { activationId } = await enrollOn(server, license, 'shown machine');
    const shown = await staff.ok(machines.get, { params: { id: 'shown machine' } });
    expect(shown.machine.provenAt).toBe(server.clock.now().toISOString());
    expect(shown.activations).toMatchObject([
      { activationId, enrolledAt: server.clock.now().toISOString(), clonedAt: null },
    ]);
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
    const machine = await enrollOn(server, license, 'ct-1');
    const { licenseKey } = license;
    const foreign = await enroll(signedEnrollment(licenseKey, 'ct-1', makeMachineKey()));
    expect([foreign.status, foreign.body.code, foreign.body.error]).toEqual([
      409,
      'WRONG_STATE',
      'This machine is enrolled with another key. Ask the vendor to release it.',
    ]);
    const unsigned = await enroll({ licenseKey, machineId: 'ct-1', publicKey: machine.key.publicKey });
    expect([unsigned.status, unsigned.body.details[0]!.path]).toEqual([422, 'signature']);
    const again = signedEnrollment(licenseKey, 'ct-1', machine.key);
    const token = (await enroll(again)).body.data.machineToken;
    expect(token).not.toBe(machine.token);
    const replayed = await enroll(again);
    expect([replayed.status, replayed.body.details[0]!.path]).toEqual([422, 'nonce']);
    // a stranger's attempts are no activity of the machine
    expect((await machinesOf(staff, license))[0]!.enrolledAt).not.toBeNull();
    expect((await auditOf(server, machine.activationId)).map((entry) => entry.changes_summary)).toEqual([
      `Machine ct-1 on ${licenseKey}: activated`,
      `Machine ct-1 on ${licenseKey}: enrolled`,
      `Machine ct-1 on ${licenseKey}: enrolled again, which replaced its token`,
    ]);
  });

  test('a nonce counts once among 20 calls at once, on two processes', async () => {
    const license = await makeLicense(staff);
    const machine = await enrollOn(server, license, 'ct-1');
    const twin = await startTwin(server, settings);
    const apis = [stranger, twin.api()];
    const body = signedEnrollment(license.licenseKey, 'ct-1', machine.key);
    const answers = await Promise.all(times(20).map((i) => enroll(body, {}, apis[i % 2])));
    await twin.close();
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, ...times(19).map(() => 422)]);
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
      else
        await server
          .api({ headers: { 'x-machine-token': machineToken! } })
          .ok(validation.releaseSeat, { body: { licenseKey, machineId: 'ct-1' } });
      for (const _ of ['before it returns', 'and after']) {
        const replayed = await enroll(captured);
        expect([replayed.status, replayed.body.details?.[0]?.path]).toEqual([422, 'nonce']);
        expect((await enroll(signedEnrollment(licenseKey, 'ct-1', key))).status).toBe(200);
      }
    },
  );

  test('enrolls its machine again after more than a thousand times', async () => {
    const license = await makeLicense(staff);
    const { licenseId, licenseKey } = license;
    const { key } = await enrollOn(server, license, 'ct-1');
    const public_key = Buffer.from(key.publicKey, 'base64url');
    const old = times(1000).map((i) => ({
      license_id: licenseId,
      public_key,
      nonce_hash: createHash('sha256').update(`old-${i}`).digest(),
    }));
    await server.db.insertInto('used_nonces').values(old).execute();
    expect((await enroll(signedEnrollment(licenseKey, 'ct-1', key))).status).toBe(200);
    expect((await enroll(signedEnrollment(licenseKey, 'ct-1', key, 'old-7'))).status).toBe(422);
  });

  test('two keys for one new machine at once: one wins', async () => {
    const license = await makeLicense(staff);
    const answers = await Promise.all(
      times(10).map(() => enroll(signedEnrollment(license.licenseKey, 'ct-1', makeMachineKey()))),
    );
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, ...times(9).map(() => 409)]);
  });

  test('is a new one after the machine gave its seat back, or staff ended the enrollment', async () => {
    const license = await makeLicense(staff);
    const { licenseKey } = license;
    const first = await enrollOn(server, license, 'ct-1');
    await server.api(first).ok(validation.releaseSeat, { body: { licenseKey, machineId: 'ct-1' } });
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

describe('staff', () => {
  test('end the enrollment of a machine that has one, audited', async () => {
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
});

describe('the limits of enrollment', () => {
  test('200 machines at once on 10 seats, on two processes: exactly 10 get a seat and a token', async () => {
    const open = { config: { ...settings.config, enrollmentsPerLicenseHour: 1000 } };
    const twins = [await startTwin(server, open), await startTwin(server, open)];
    const license = await makeLicense(staff, { maxActivations: 10 });
    const answers = await Promise.all(
      times(200).map((i) =>
        enroll(signedEnrollment(license.licenseKey, `m-${i}`, makeMachineKey()), {}, twins[i % 2]!.api()),
      ),
    );
    const results = answers.map(({ body }) => body.data);
    const tokens = results.filter(({ machineToken }) => machineToken !== null);
    expect(tokens).toHaveLength(10);
    expect(tokens.every(({ valid }) => valid)).toBe(true);
    expect(results.filter(({ code }) => code === 'TOO_MANY_ACTIVATIONS')).toHaveLength(190);
    const listed = await machinesOf(staff, license);
    expect(listed).toHaveLength(10);
    expect(listed.every(({ enrolledAt }) => enrolledAt !== null)).toBe(true);
    for (const twin of twins) await twin.close();
  });

  test('100 enrollments of a license in an hour on two processes, or one for each of its seats', async () => {
    const few = { config: { ...settings.config, enrollmentsPerLicenseHour: 20 } };
    const twins = [await startTwin(server, few), await startTwin(server, few)];
    const machineKeys = times(5).map(makeMachineKey);
    const loop = (licenseKey: string, howMany = 5) =>
      Promise.all(
        times(60).map(async (i) => {
          const body = signedEnrollment(licenseKey, `m-${i % howMany}`, machineKeys[i % 5]!);
          return enroll(body, { 'x-forwarded-for': `203.0.113.${i}` }, twins[i % 2]!.api());
        }),
      );
    const small = await makeLicense(staff, { maxActivations: 5 });
    const answers = await loop(small.licenseKey);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
    const refused = answers.find(({ status }) => status === 429)!;
    expect(refused.headers.get('retry-after')).toBe('1800');
    const told = (await auditOf(server, small.licenseId)).filter(
      (entry) => entry.event_type === 'license.enrollment_limit_reached',
    );
    expect(told).toHaveLength(1);
    const large = await makeLicense(staff, { maxActivations: 50 });
    expect((await loop(large.licenseKey, 60)).filter(({ status }) => status === 200)).toHaveLength(50);
    for (const twin of twins) await twin.close();
  });

  test('refused enrollments use up none of them', async () => {
    const few = await startTwin(server, { config: { ...settings.config, enrollmentsPerLicenseHour: 3 } });
    const license = await makeLicense(staff, { maxActivations: 1 });
    const { licenseKey } = license;
    const first = await enrollOn(few, license, 'first');
    const forged = { ...signedEnrollment(licenseKey, 'x', makeMachineKey()), machineId: 'y' };
    for (const _ of times(4)) {
      expect((await enroll(forged, {}, few.api())).status).toBe(422);
      const full = await enroll(signedEnrollment(licenseKey, 'second', makeMachineKey()), {}, few.api());
      expect(full.body.data).toMatchObject({ code: 'TOO_MANY_ACTIVATIONS', machineToken: null });
    }
    const again = () => enroll(signedEnrollment(licenseKey, 'first', first.key), {}, few.api());
    expect([(await again()).status, (await again()).status, (await again()).status]).toEqual([200, 200, 429]);
    await few.close();
  });

  test('30 unknown keys of an address in 15 minutes, however many are tried at once', async () => {
    const own = await startTestServer(settings);
    const ownStaff = own.api(await own.signInAs('super_admin'));
    const license = await makeLicense(ownStaff);
    const guess = (licenseKey: string, address: string) =>
      enroll(
        { licenseKey, machineId: address, publicKey: makeMachineKey().publicKey },
        { 'x-forwarded-for': address },
        own.api(),
      );
    const guessed = await Promise.all(
      times(100).map((i) => guess(i % 2 ? newLicenseKey('enterprise') : 'no key at all', `2001:db8::${i}`)),
    );
    const answered = guessed.filter(({ status }) => status === 200);
    expect(answered).toHaveLength(30);
    expect(new Set(answered.map(({ body }) => body.data.machineToken))).toEqual(new Set([null]));
    // the right key gets the same answer until the window ends; other addresses are not concerned
    const late = await guess(license.licenseKey, '2001:db8::ffff');
    expect([late.status, late.headers.get('retry-after')]).toEqual([429, '900']);
    expect((await guess(license.licenseKey, '198.51.100.7')).status).toBe(200);
    own.clock.advance(minutes(15));
    expect((await guess(license.licenseKey, '2001:db8::fffe')).status).toBe(200);
    await own.close();
  });
});

test('a repeated Idempotency-Key does not show a token again', async () => {
  const license = await makeLicense(staff);
  const body = signedEnrollment(license.licenseKey, 'ct-1', makeMachineKey());
  const once = { 'idempotency-key': 'e-1' };
  expect((await enroll(body, once)).status).toBe(200);
  expect((await enroll(body, once)).status).toBe(422);
});
