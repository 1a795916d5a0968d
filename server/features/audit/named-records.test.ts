import { expect, test } from 'vitest';
import { audit } from '../../../contract/audit.ts';
import { licenses } from '../../../contract/licenses.ts';
import {
  makeApiKey,
  makeCustomer,
  makeLicense,
  revoke,
  softDelete,
  validateOn,
} from '../../../tests/factories.ts';
import { eventually, startTestServer } from '../../../tests/harness.ts';
import { displayIdOf } from '../update-events/index.ts';
import { machineHashOf } from '../../machine-hash.ts';

const server = await startTestServer();
const staff = server.api(await server.signInAs('super_admin'));

/** What the latest entry of an event names in its summary. */
async function named(eventType: string, resourceId?: string) {
  const { entries } = await staff.ok(audit.list, { query: { eventType, resourceId } });
  const { records, changes_summary: text } = entries[0]!;
  return records
    .filter(({ name }) => text.includes(name))
    .toSorted((a, b) => text.indexOf(a.name) - text.indexOf(b.name))
    .map(({ kind, id, name }) => [kind, id, name]);
}

test('an entry names its records by their ids, until they are deleted', async () => {
  const [from, to] = [await makeCustomer(staff), await makeCustomer(staff)];
  const license = await makeLicense(staff, { customerId: from.customerId });
  const { licenseId, licenseKey } = license;
  const key = ['license', licenseId, licenseKey];
  const [old, now] = [from, to].map(({ customerId, name }) => ['customer', customerId, name]);
  expect(await named('license.created', licenseId)).toEqual([key, old]);
  expect(await named('customer.created', from.customerId)).toEqual([old]);
  const body = { customerId: to.customerId, updatedAt: license.updatedAt };
  await staff.ok(licenses.transfer, { params: { id: licenseId }, body });
  expect(await named('license.transferred')).toEqual([key, old, now]);

  const apiKey = await makeApiKey(staff);
  expect(await named('api_key.created', apiKey.id)).toEqual([
    ['api_key', apiKey.id, `API key ${apiKey.name}`],
  ]);
  await validateOn(server.api(apiKey), license, 'audited');
  const machine = ['machine', displayIdOf(machineHashOf('audited')), 'audited'];
  await eventually(async () => (await named('activation.created')).length === 2);
  expect(await named('activation.created')).toEqual([machine, key]);

  await revoke(staff, license);
  await staff.ok(licenses.delete, { params: { id: licenseId } });
  await softDelete(staff, from);
  // a soft-deleted customer keeps its page
  expect(await named('license.created')).toEqual([old]);
  expect(await named('customer.created', from.customerId)).toEqual([old]);
  expect(await named('activation.created')).toEqual([]);
  expect(await named('license.deleted')).toEqual([]);
});

test('an altered entry is shown, whatever it has in place of ids', async () => {
  const { customerId } = await makeCustomer(staff);
  await server.pool.query(
    `insert into audit_entries (audit_id, timestamp, event_type, resource_type, resource_id, changes_summary, success)
     values (gen_random_uuid(), now(), 'altered', 'customer', $1, 'Altered', true)`,
    [customerId + customerId],
  );
  expect(await named('altered')).toEqual([]);
});
