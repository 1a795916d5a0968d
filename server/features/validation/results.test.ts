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

test('a license that is not there has no results', async () => {
  const answer = await staff.call(calls.ofLicense, {
    params: { id: '01900000-0000-7000-8000-000000000000' },
  });
  expect(answer.status).toBe(404);
});
