import { expect, test } from 'vitest';
import { account } from '../../../contract/account.ts';
import { apiKeys } from '../../../contract/api-keys.ts';
import { audit } from '../../../contract/audit.ts';
import { auditEvents, auditSubjects, resourceOf, type AuditEvent } from '../../../contract/audit-events.ts';
import { activations } from '../../../contract/activations.ts';
import { customers } from '../../../contract/customers.ts';
import { licenses } from '../../../contract/licenses.ts';
import { session } from '../../../contract/session.ts';
import { rbac, users } from '../../../contract/users.ts';
import { machinesOf, makeApiKey, makeCustomer, makeLicense, validateOn } from '../../../tests/factories.ts';
import { password, startTestServer } from '../../../tests/harness.ts';

const server = await startTestServer();
const admin = await server.signInAs('super_admin');
const api = server.api(admin);

/** What the audit log says, the oldest first, of what `work` does. */
async function toldOf(
  work: () => Promise<unknown>,
): Promise<[event: string, resource: string, summary: string][]> {
  const last = await server.db
    .selectFrom('audit_entries')
    .select('audit_id')
    .orderBy('audit_id', 'desc')
    .executeTakeFirstOrThrow();
  await work();
  const rows = await server.db
    .selectFrom('audit_entries')
    .select(['event_type', 'resource_type', 'changes_summary'])
    .where('audit_id', '>', last.audit_id)
    .orderBy('audit_id')
    .execute();
  for (const { event_type, resource_type } of rows) {
    expect(Object.keys(auditEvents)).toContain(event_type);
    expect(resource_type).toBe(resourceOf(event_type as AuditEvent));
  }
  return rows.map((row) => [row.event_type, row.resource_type, row.changes_summary]);
}

test('every event is about a resource that has a name', () => {
  for (const event of Object.keys(auditEvents))
    expect(Object.keys(auditSubjects), event).toContain(resourceOf(event as AuditEvent));
});

test('customers, licenses and machines', async () => {
  const { customerId } = await makeCustomer(api, { name: 'Charité' });
  const { licenseId, ...license } = await makeLicense(api, { customerId, maxActivations: 3 });
  const told = await toldOf(async () => {
    await api.ok(customers.update, { params: { id: customerId }, body: { name: 'Charité', country: 'AT' } });
    await api.ok(licenses.update, { params: { id: licenseId }, body: { maxActivations: 4 } });
    await api.ok(licenses.update, { params: { id: licenseId }, body: { moduleIds: ['mod_diabetes'] } });
    await validateOn(api, license, 'RAD-1');
    const [machine] = await machinesOf(api, license);
    const { activationId, machineId } = machine!;
    await api.ok(activations.deactivate, { params: { activationId }, body: { machineId } });
    await api.ok(licenses.revoke, { params: { id: licenseId } });
    await api.ok(licenses.reactivate, { params: { id: licenseId } });
    await api.ok(customers.softDelete, { params: { id: customerId } });
    await api.ok(customers.restore, { params: { id: customerId } });
    await api.ok(customers.softDelete, { params: { id: customerId } });
    await api.ok(customers.hardDelete, { params: { id: customerId } });
    await api.call(customers.exportCsv);
  });
  const key = license.licenseKey;
  expect(told.filter(([event]) => event !== 'activation.created')).toEqual([
    ['customer.updated', 'customer', 'Charité: country: DE → AT'],
    ['license.updated', 'license', `${key}: maxActivations: 3 → 4`],
    ['license.updated', 'license', `${key}: modules: Lung Nodule, Diabetes → Diabetes`],
    ['activation.deactivated', 'activation', `Machine RAD-1 on ${key}: deactivated`],
    ['license.revoked', 'license', `${key}: revoked`],
    ['license.reactivated', 'license', `${key}: reactivated`],
    ['customer.soft_deleted', 'customer', 'Charité: moved to the recycle bin'],
    ['customer.restored', 'customer', 'Charité: restored'],
    ['customer.soft_deleted', 'customer', 'Charité: moved to the recycle bin'],
    ['customer.deleted', 'customer', 'Charité: permanently deleted with 1 license'],
    ['customer.exported', 'customer', expect.stringMatching(/^Customers: exported \d+ as CSV$/)],
  ]);
});

test('API keys: switching one off says so', async () => {
  const { id } = await makeApiKey(api, { name: 'CI upload' });
  const change = (body: object) => api.ok(apiKeys.update, { params: { keyId: id }, body });
  const told = await toldOf(async () => {
    await change({ isActive: false });
    await change({ isActive: false });
    await change({ isActive: true, rateLimit: 10 });
    await api.ok(apiKeys.revoke, { params: { keyId: id } });
  });
  expect(told.map(([, , summary]) => summary)).toEqual([
    'API key CI upload: switched off',
    'API key CI upload: switched on; rateLimit: 1000000 → 10',
    'API key CI upload: revoked',
  ]);
});

test('users and roles', async () => {
  const { userId, email } = await server.createPerson('viewer');
  const other = `renamed-${email}`;
  const told = await toldOf(async () => {
    await api.ok(users.update, { params: { id: userId }, body: { name: 'Anna', role: 'support_agent' } });
    await api.ok(users.update, { params: { id: userId }, body: { name: 'Anna' } });
    await api.ok(users.update, { params: { id: userId }, body: { email: other } });
    await api.ok(rbac.assignRole, { params: { userId, roleId: 'viewer' } });
    await api.ok(users.deactivate, { params: { id: userId } });
    await api.ok(users.delete, { params: { id: userId } });
    await api.ok(rbac.createRole, {
      body: { roleId: 'night_shift', description: 'Nights', copyFrom: 'viewer' },
    });
    await api.ok(rbac.deleteRole, { params: { roleId: 'night_shift' } });
  });
  expect(told).toEqual([
    [
      'user.updated',
      'user',
      `${email}: name: The viewer → Anna; role: viewer → support_agent; roles: viewer → support_agent`,
    ],
    ['user.updated', 'user', `${other}: email: ${email} → ${other}`],
    ['user.roles_changed', 'user', `${other}: roles: support_agent → support_agent, viewer`],
    ['user.deactivated', 'user', `${other}: deactivated`],
    ['user.deleted', 'user', `${other}: permanently deleted`],
    ['role.created', 'role', 'Role night_shift: created from viewer'],
    ['role.deleted', 'role', 'Role night_shift: removed'],
  ]);
});

test('a session is a session, whoever ends it and how', async () => {
  const { email, userId } = await server.createPerson('viewer');
  const signIn = () => server.signIn(email, 'viewer');
  const [here, there, , elsewhere] = [await signIn(), await signIn(), await signIn(), await signIn()];
  const open = async () => (await server.api(here).ok(account.sessions)).filter((one) => !one.current);
  const told = await toldOf(async () => {
    await server.api().call(session.login, { body: { email, password: `not ${password}` } });
    await server.api(there).ok(session.logout);
    const [first, second] = await open();
    await server.api(here).ok(account.endSession, { params: { sessionId: first!.sessionId } });
    await api.ok(users.endSession, { params: { id: userId, sessionId: second!.sessionId } });
    await server.api(here).ok(account.endOtherSessions);
  });
  expect(elsewhere).toBeDefined();
  expect(told).toEqual([
    ['session.login_failed', 'session', `Session of ${email}: sign-in failed`],
    ['session.logout', 'session', `Session of ${email}: signed out`],
    ['session.ended', 'session', `Session of ${email}: ended`],
    ['session.ended', 'session', `Session of ${email}: ended`],
    ['user.sessions_ended', 'user', `${email}: ended 0 other sessions`],
  ]);
});

test('a person and a key are found by what they are called', async () => {
  const { id } = await makeApiKey(api, { name: 'Haystack needle' });
  await api.ok(apiKeys.update, { params: { keyId: id }, body: { isActive: false } });
  const found = await api.ok(audit.list, {
    query: { search: 'haystack needle', eventType: 'api_key.updated' },
  });
  expect(found.entries.map((entry) => entry.changes_summary)).toEqual([
    'API key Haystack needle: switched off',
  ]);
});
