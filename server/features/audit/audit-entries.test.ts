import { describe, expect, test } from 'vitest';
import { customers } from '../../../contract/customers.ts';
import { makeCustomer } from '../../../tests/factories.ts';
import { auditOf, startTestServer } from '../../../tests/harness.ts';

const server = await startTestServer();
const admin = await server.signInAs('super_admin');

describe('the audit log', () => {
  test('refuses to be changed, emptied or cut, whoever asks the database', async () => {
    await makeCustomer(server.api(admin));
    for (const statement of [
      "update audit_entries set user_email = 'someone else'",
      'delete from audit_entries',
      'truncate audit_entries',
    ]) {
      await expect(server.pool.query(statement), statement).rejects.toThrow('audit entries are append-only');
    }
    const { rows } = await server.pool.query('select 1 from audit_entries limit 1');
    expect(rows).toHaveLength(1);
  });

  test.each([
    ['refuses', "raise exception 'no'"],
    ['drops', 'return null'],
  ])('gets the entry of a change with the change, or not at all where a trigger %s it', async (_, does) => {
    const { customerId } = await makeCustomer(server.api(admin), { name: 'Untouched' });
    await server.pool.query(`create function no_audit() returns trigger language plpgsql as $$ begin
      if new.changes_summary like '%Never%' then ${does}; end if; return new; end $$`);
    await server.pool.query(
      'create trigger no_audit before insert on audit_entries for each row execute function no_audit()',
    );
    const answer = await server
      .api(admin)
      .call(customers.update, { params: { id: customerId }, body: { name: 'Never', country: 'DE' } });
    expect(answer.status).toBe(500);
    expect(answer.body).toEqual({
      success: false,
      code: 'INTERNAL',
      error: 'Something went wrong on our side. It has been logged.',
      requestId: expect.any(String),
    });
    await server.pool.query('drop trigger no_audit on audit_entries; drop function no_audit');
    expect((await server.api(admin).ok(customers.get, { params: { id: customerId } })).name).toBe(
      'Untouched',
    );
  });

  test('says who, from where, by which call, and the fields before and after', async () => {
    const made = await makeCustomer(server.api(admin), { name: 'Before', phone: '1' });
    const answer = await server
      .api(admin)
      .call(
        customers.update,
        { params: { id: made.customerId }, body: { name: 'After', country: 'DE' } },
        { 'user-agent': 'a browser' },
      );
    const entries = await auditOf(server, made.customerId);
    const { licenses: _, ...before } = made;
    expect(entries).toHaveLength(2);
    expect(entries[1]).toEqual({
      audit_id: expect.any(String),
      timestamp: server.clock.now(),
      user_id: admin.userId,
      user_email: admin.email,
      user_role: 'super_admin',
      event_type: 'customer.updated',
      resource_type: 'customer',
      resource_id: made.customerId,
      changes_summary: 'After: name: Before → After; phone: 1 → –',
      before: expect.objectContaining({ name: before.name, phone: '1' }),
      after: expect.objectContaining({ name: 'After', phone: null }),
      api_endpoint: 'PUT /api/customers/{id}',
      ip_address: '127.0.0.1',
      user_agent: 'a browser',
      request_id: answer.headers.get('x-request-id'),
      success: true,
      error_message: null,
      mac: expect.any(Buffer),
    });
  });

  test('keeps refusals: who lacked which permission, and where', async () => {
    const viewer = await server.signInAs('viewer');
    await server.api(viewer).call(customers.create, { body: { name: 'X', country: 'DE' } });
    const rows = await server.db
      .selectFrom('audit_entries')
      .selectAll()
      .where('user_id', '=', viewer.userId)
      .where('event_type', '=', 'call.refused')
      .execute();
    expect(rows).toMatchObject([
      {
        success: false,
        error_message: 'You lack the permission customers:create.',
        api_endpoint: 'POST /api/customers',
      },
    ]);
  });
});
