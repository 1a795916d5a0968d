import { expect, test } from 'vitest';
import { audit } from '../../../contract/audit.ts';
import { licenses } from '../../../contract/licenses.ts';
import { makeApiKey, makeLicense, revoke, softDelete, validateOn } from '../../../tests/factories.ts';
import { eventually, startTestServer } from '../../../tests/harness.ts';
import { displayIdOf } from '../update-events/index.ts';
import { machineHashOf } from '../../machine-hash.ts';

const server = await startTestServer();
const staff = server.api(await server.signInAs('super_admin'));

const subjects = async (eventType: string, resourceId?: string) => {
  const { entries } = await staff.ok(audit.list, { query: { eventType, resourceId } });
  return entries.map((entry) => entry.subject);
};

test('an entry names the record that it is about, until that is deleted', async () => {
  const license = await makeLicense(staff);
  const { licenseId, customerId } = license;
  expect(await subjects('license.created', licenseId)).toEqual([{ kind: 'license', id: licenseId }]);
  expect(await subjects('customer.created', customerId)).toEqual([{ kind: 'customer', id: customerId }]);
  const apiKey = await makeApiKey(staff);
  const { id } = apiKey;
  await validateOn(server.api(apiKey), license, 'audited');
  expect(await subjects('api_key.created', id)).toEqual([{ kind: 'api_key', id }]);
  const machine = { kind: 'machine', id: displayIdOf(machineHashOf('audited')) };
  await eventually(async () => (await subjects('activation.created'))[0] !== null);
  expect(await subjects('activation.created')).toEqual([machine]);

  await revoke(staff, license);
  await staff.ok(licenses.delete, { params: { id: licenseId } });
  await softDelete(staff, license);
  for (const event of ['license.created', 'customer.created', 'activation.created', 'license.deleted'])
    expect([event, await subjects(event)]).toEqual([event, [null]]);
  const { entries } = await staff.ok(audit.list, { query: { eventType: 'license.deleted' } });
  expect(await staff.ok(audit.get, { params: { id: entries[0]!.audit_id } })).toMatchObject({
    subject: null,
  });
});
