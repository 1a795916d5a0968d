import { expect, test } from 'vitest';
import { customers } from '../contract/customers.ts';
import { resourceActions, resources, type RoleName } from '../contract/permissions.ts';
import { needsOf } from '../contract/route.ts';
import { everyCall } from './every-call.ts';
import { enrollOn, makeLicense, unique } from './factories.ts';
import { addressOf } from './harness.ts';
import { startPolicyRoom } from './policy-room.ts';

const { server, staff, put, publish } = await startPolicyRoom();

/** Somebody who may do everything except with these. Licenses and analytics name their customers, as the audit log does. */
async function holderWithout(...lost: readonly string[]) {
  const role_id = unique('role').replace(' ', '_');
  await server.db.insertInto('roles').values({ role_id, description: 'For a test' }).execute();
  const held = resources
    .filter((resource) => !lost.includes(resource))
    .flatMap((resource) => resourceActions[resource].map((action) => ({ role_id, resource, action })));
  await server.db.insertInto('role_permissions').values(held).execute();
  const { email } = await server.createPerson(role_id as RoleName);
  return (await server.signIn(email, role_id as RoleName)).headers;
}

test('no call that reads names a customer to who may read neither customers nor what names them', async () => {
  await publish('1.2.0', '1.3.0');
  const secret = unique('Secret').replace(' ', '-');
  const customer = await staff.ok(customers.create, {
    body: { name: secret, contactName: secret, email: `${secret}@a.test`, phone: secret, country: 'DE' },
  });
  const { customerId } = customer;
  const license = await makeLicense(staff, { customerId });
  const { machineId } = await enrollOn(server, license, 'm', { platform: 'win32', architecture: 'x64' });
  await put(customerId, { pin: '1.2.', windows: [] }, ['slow']);
  const release = await server.db.selectFrom('releases').select('release_id').executeTakeFirstOrThrow();
  const ids = [customerId, license.licenseId, release.release_id, machineId];
  const headers = await holderWithout('customers', 'licenses', 'analytics', 'audit');
  const allowed = new Set<string>();
  for (const [name, route] of everyCall.filter(([, { method }]) => method === 'GET'))
    for (const id of route.path.includes('{') ? ids : [''])
      for (const query of [{}, { search: secret }, { limit: 5 }, { group: 'running', limit: 5 }]) {
        const params = Object.fromEntries(
          [...route.path.matchAll(/\{(\w+)\}/g)].map((found) => [found[1], id]),
        );
        const answer = await fetch(server.url + addressOf(route, { params, query }), { headers });
        if (answer.ok && needsOf(route.access).length > 0) allowed.add(name);
        // what was searched for is in the filter of no answer
        expect(await answer.text(), `${name} of ${id}`).not.toContain(secret);
      }
  expect([...allowed]).toEqual(
    expect.arrayContaining([
      'policies.getOfCustomer',
      'machines.explain',
      'machines.get',
      'machineStandings.list',
      'rollouts.machines',
      'approvals.list',
    ]),
  );
});
