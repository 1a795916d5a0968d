import { expect, test } from 'vitest';
import { validation as calls } from '../../../contract/validation.ts';
import { makeApiKey, makeLicense, revoke, validateOn } from '../../../tests/factories.ts';
import { days, eventually, startTestServer } from '../../../tests/harness.ts';

const server = await startTestServer();
const staff = server.api((await server.signInAs('super_admin')).byCookie);
const desktop = server.api(await makeApiKey(staff));

test('the results of a license are those of its validations in the last 30 days', async () => {
  const license = await makeLicense(staff);
  await validateOn(desktop, await makeLicense(staff), 'of another license');
  await validateOn(desktop, license, 'too long ago');
  server.clock.advance(days(31));
  for (const machine of ['a', 'b', 'a']) await validateOn(desktop, license, machine);
  await revoke(staff, license);
  await validateOn(desktop, license, 'a');
  const params = { id: license.licenseId };
  const results = async () => staff.ok(calls.ofLicense, { params });
  await eventually(async () => (await results()).length === 2);
  expect(await results()).toEqual([
    { code: 'VALID', count: 3, machines: 2 },
    { code: 'REVOKED', count: 1, machines: 1 },
  ]);
});

test('the results of many machines are counted once for a while', async () => {
  const license = await makeLicense(staff);
  await server.pool.query(
    `insert into validations (occurred_at, code, duration_us, license_id, customer_id, machine_id)
     select $1, 'VALID', 1, $2, $3, n::text from generate_series(1, 25000) n`,
    [server.clock.now(), license.licenseId, license.customerId],
  );
  const results = () => staff.ok(calls.ofLicense, { params: { id: license.licenseId } });
  const counted = [{ code: 'VALID', count: 25_000, machines: 25_000 }];
  expect(await results()).toEqual(counted);
  await server.pool.query('delete from validations where license_id = $1', [license.licenseId]);
  expect(await results()).toEqual(counted);
});

test('a license that is not there has no results', async () => {
  const answer = await staff.call(calls.ofLicense, {
    params: { id: '01900000-0000-7000-8000-000000000000' },
  });
  expect(answer.status).toBe(404);
});
