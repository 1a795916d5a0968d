import { expect, test } from 'vitest';
import { newFolder } from '../../tests/place.ts';
import { day, noNetwork, requestOf, startFakeServer } from './fake-server.testing.ts';
import { machineHash } from './license-file.ts';

/* Two machines in one folder: it follows a person from computer to computer, as a roaming profile does. */

async function twoMachines() {
  const fake = await startFakeServer();
  const folder = await newFolder();
  const one = await fake.client({ folder });
  const other = await fake.client({ folder, machineId: 'ws-08' });
  return { fake, one, other };
}

test('each keeps its own answer, and counts its own calls', async () => {
  const { fake, one, other } = await twoMachines();
  for (const client of [one, one, other, other]) expect(await client.check()).toMatchObject({ valid: true });
  const numbers = fake.calls.map(({ headers }) => headers['x-machine-sequence']);
  expect(numbers).toEqual([undefined, '1', undefined, '1']);
  fake.instead = noNetwork;
  for (const client of [one, other])
    expect(await client.check()).toMatchObject({ valid: true, source: 'kept' });
});

test('a refusal of one, its clock, and that it gives its seat back, end nothing of the other', async () => {
  const { fake, one, other } = await twoMachines();
  await one.check();
  fake.clock.at += 60_000;
  fake.code = 'MACHINE_DEACTIVATED';
  expect(await other.check()).toMatchObject({ valid: false, code: 'MACHINE_DEACTIVATED' });
  fake.code = 'VALID';
  fake.clock.at += 60_000;
  expect(await other.check()).toMatchObject({ valid: true });
  expect(await other.giveBack()).toMatchObject({ ok: true });
  fake.instead = noNetwork;
  expect(await one.check()).toMatchObject({ valid: true, source: 'kept' });
  fake.instead = undefined;
  fake.clock.at += 1000;
  expect(await other.check()).toMatchObject({ valid: true, source: 'online' });
  fake.instead = noNetwork;
  fake.clock.at += 10 * day;
  expect(await other.check()).toMatchObject({ valid: true, source: 'kept' });
  fake.clock.at -= 9 * day;
  expect(await other.check()).toMatchObject({ code: 'CLOCK_SET_BACK' });
  expect(await one.check()).toMatchObject({ valid: true, source: 'kept' });
});

test('each runs by its own license file, and makes its own receipt', async () => {
  const { fake, one, other } = await twoMachines();
  fake.instead = noNetwork;
  for (const client of [one, other])
    expect(await client.importLicense(fake.fileFor(await requestOf(client)))).toMatchObject({ ok: true });
  for (const [client, machineId] of [
    [one, 'ws-07'],
    [other, 'ws-08'],
  ] as const) {
    expect(await client.check()).toMatchObject({ valid: true, source: 'file' });
    const given = await client.giveBack();
    if (!given.ok || given.receipt === null) throw new Error(given.message);
    const claims: unknown = JSON.parse(Buffer.from(given.receipt.split('.')[1]!, 'base64url').toString());
    expect(claims).toMatchObject({ machine: machineHash(machineId) });
    expect(await client.check()).toMatchObject({ valid: false, code: 'NO_ANSWER' });
  }
});
