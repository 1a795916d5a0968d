import { describe, expect, test } from 'vitest';
import { machines } from '../../../contract/machines.ts';
import { validation } from '../../../contract/validation.ts';
import {
  enrollOn,
  machinesOf,
  makeApiKey,
  makeLicense,
  unique,
  validateOn,
} from '../../../tests/factories.ts';
import { auditOf, eventually, minutes, startTestServer, startTwin } from '../../../tests/harness.ts';

const server = await startTestServer();
const twin = await startTwin(server);
const staff = server.api((await server.signInAs('super_admin')).byCookie);
const license = await makeLicense(staff, { maxActivations: 100 });

const signsOf = (activationId: string) =>
  server.db
    .selectFrom('machine_credentials')
    .selectAll()
    .where('activation_id', '=', activationId)
    .executeTakeFirstOrThrow();
const listed = async (activationId: string) =>
  (await machinesOf(staff, license)).find((machine) => machine.activationId === activationId)!;

/** An enrolled machine, and a call with its token that is written when it resolves. */
async function machineAt(hostname?: string) {
  const machineId = unique('Machine');
  const machine = await enrollOn(server, license, machineId, hostname === undefined ? {} : { hostname });
  const body = { licenseKey: license.licenseKey, machineId };
  async function call(sequence: string, facts: { hostname?: string } = {}, on = server) {
    server.clock.advance(minutes(1));
    const at = server.clock.now();
    const headers = { 'x-machine-sequence': sequence };
    const { code } = (
      await on.api(machine).call(validation.validate, { body: { ...body, ...facts } }, headers)
    ).body.data;
    await eventually(async () => (await listed(machine.activationId)).lastCheckedAt === at.toISOString());
    return code;
  }
  return { ...machine, machineId, call };
}

describe('the same token on two machines at once', () => {
  test('is shown to staff with the license and on the page of the machine, audited once, and locks nobody out', async () => {
    const { activationId, machineId, call } = await machineAt('CT 1');
    const before = await listed(activationId);
    expect(before.clonedAt).toBeNull();
    const codes = [];
    for (const sequence of ['101', '101', '102', '102', '103', '103', '104', '104'])
      codes.push(await call(sequence, {}, sequence === '103' ? twin : server));
    expect(new Set(codes)).toEqual(new Set(['VALID']));
    const { clonedAt } = await eventually(async () => {
      const now = await listed(activationId);
      return now.clonedAt !== null && now;
    });
    // of the fourth call, and it stays
    expect(clonedAt).toBe(new Date(Date.parse(before.enrolledAt!) + minutes(4)).toISOString());
    const shown = await staff.ok(machines.get, { params: { id: machineId } });
    expect(shown.activations).toMatchObject([{ activationId, clonedAt }]);
    const told = (await auditOf(server, activationId)).filter(
      (entry) => entry.event_type === 'activation.clone_noticed',
    );
    expect(told).toHaveLength(1);
    expect(told[0]).toMatchObject({
      user_email: 'system',
      changes_summary: `Machine ${machineId} on ${license.licenseKey}: seen on two machines at once`,
    });
  });

  test('is told by what they say of themselves, where they do not count', async () => {
    const { activationId, call } = await machineAt('CT 1');
    await call('', { hostname: 'CT 1' });
    await call('', { hostname: 'CT 2' });
    expect((await listed(activationId)).clonedAt).toBeNull();
    await call('', { hostname: 'CT 1' });
    await eventually(async () => (await listed(activationId)).clonedAt !== null);
  });
});

test('a machine that is restored from a backup, and later renamed, is no clone', async () => {
  const { activationId, call } = await machineAt('CT 1');
  for (const sequence of ['7', '8', '9', '3', '4']) await call(sequence, { hostname: 'CT 1' });
  await call('5', { hostname: 'CT 7' });
  await call('6', { hostname: 'CT 7' });
  expect(await listed(activationId)).toMatchObject({ clonedAt: null, hostname: 'CT 7' });
});

test('a computer that changes its network, and its host name with it, is no clone', async () => {
  const { activationId, call } = await machineAt('ct7.local');
  for (const [n, hostname] of ['ct7.local', 'ct7.ward.lan', 'ct7.local', 'ct7.ward.lan'].entries())
    await call(String(n + 1), { hostname });
  expect(await signsOf(activationId)).toMatchObject({ sequence: 4, cloned_at: null });
});

test('no API key can make a machine look like a clone', async () => {
  const { activationId, machineId, call } = await machineAt('CT 1');
  await call('1', { hostname: 'CT 1' });
  const desktop = server.api(await makeApiKey(staff));
  for (const hostname of ['CT 2', 'CT 1', 'CT 2']) {
    server.clock.advance(minutes(1));
    await validateOn(desktop, license, machineId, { hostname });
  }
  await call('2', { hostname: 'CT 1' });
  expect(await signsOf(activationId)).toMatchObject({ facts: 'CT 1 ·  · ', cloned_at: null, sequence: 2 });
});

test('a sequence number that is none is ignored', async () => {
  const { activationId, call } = await machineAt();
  await call('5');
  for (const none of ['-1', '1.5', 'x', '9'.repeat(16), '1, 2']) expect(await call(none)).toBe('VALID');
  expect(await signsOf(activationId)).toMatchObject({ sequence: 5, moved_back_at: null });
});
