import type { Updateable } from 'kysely';
import { afterEach, expect, test, vi } from 'vitest';
import type { License } from '../../../contract/licenses.ts';
import { validation } from '../../../contract/validation.ts';
import { enrollOn, makeApiKey, makeLicense, revoke, unique, validateOn } from '../../../tests/factories.ts';
import { days, eventually, startTestServer, startTwin, type Identity } from '../../../tests/harness.ts';
import type { Tables } from '../../db/tables.ts';

const server = await startTestServer();
const twin = await startTwin(server);
const { signals } = server.context;
afterEach(() => vi.restoreAllMocks());

const staff = server.api(await server.signInAs('super_admin'));
const apiKey = await makeApiKey(staff);

const codeOf = async (
  { licenseKey }: License,
  machineId: string,
  { on = server, who = apiKey }: { on?: typeof server; who?: Identity } = {},
) => {
  const { status, body } = await on.api(who).call(validation.validate, { body: { licenseKey, machineId } });
  return status === 200 ? body.data.code : status;
};

/** By SQL, which tells no process. */
const setSecretly = (columns: Updateable<Tables['licenses']>, { licenseId }: License) =>
  server.db.updateTable('licenses').set(columns).where('license_id', '=', licenseId).execute();

test('a known machine is answered from memory, with its API key or its token', async () => {
  const license = await makeLicense(staff);
  const named = unique('machine');
  const proven = await enrollOn(server, license, unique('machine'));
  const codes = async () => [
    await codeOf(license, named),
    await codeOf(license, proven.machineId, { who: proven }),
  ];
  // the notification that a seat was taken may arrive late, and drops what was read before
  await eventually(async () => {
    await setSecretly({ status: 'active' }, license);
    expect(await codes()).toEqual(['VALID', 'VALID']);
    await setSecretly({ status: 'revoked' }, license);
    expect(await codes()).toEqual(['VALID', 'VALID']);
  });
  expect(await codeOf(license, unique('machine'))).toBe('REVOKED');
});

test('while the listening connection is down, the database is asked', async () => {
  const license = await makeLicense(staff);
  const proven = await enrollOn(server, license, unique('machine'));
  expect(await codeOf(license, proven.machineId, { who: proven })).toBe('VALID');
  await setSecretly({ status: 'revoked' }, license);
  vi.spyOn(signals, 'isUp').mockReturnValue(false);
  expect(await codeOf(license, proven.machineId)).toBe('REVOKED');
  expect(await codeOf(license, proven.machineId, { who: proven })).toBe('REVOKED');
});

test('a revocation counts from the next call on where it was made, and at once elsewhere', async () => {
  const license = await makeLicense(staff);
  const machines = [1, 2, 3].map(() => unique('machine'));
  const codes = (on: typeof server) => Promise.all(machines.map((one) => codeOf(license, one, { on })));
  expect([await codes(server), await codes(twin)]).toEqual([Array(3).fill('VALID'), Array(3).fill('VALID')]);
  await revoke(staff, license);
  expect(await codes(server)).toEqual(Array(3).fill('REVOKED'));
  await eventually(async () => expect(await codes(twin)).toEqual(Array(3).fill('REVOKED')));
});

test('the clock decides at each call, not the outcome of the last one', async () => {
  const license = await makeLicense(staff, { validUntil: '2026-11-22T00:00:00Z' });
  const machineId = unique('machine');
  const first = await validateOn(server.api(apiKey), license, machineId);
  expect([first.code, first.expiresAt]).toEqual(['VALID', '2026-11-22T00:00:00.000Z']);
  expect(await codeOf(license, machineId)).toBe('VALID');
  server.clock.advance(days(3));
  expect(await codeOf(license, machineId)).toBe('EXPIRED');
  await setSecretly({ valid_until: new Date('2026-12-22T00:00:00Z') }, license);
  expect(await codeOf(license, machineId), 'nobody is refused by what is kept').toBe('VALID');
});
