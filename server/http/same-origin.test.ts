import { describe, expect, test } from 'vitest';
import { customers } from '../../contract/customers.ts';
import { session as calls } from '../../contract/session.ts';
import { startTestServer } from '../../tests/harness.ts';

const server = await startTestServer();

describe('a change with the cookie alone', () => {
  const create = (headers: Record<string, string>) =>
    server.api({ headers }).call(customers.create, { body: { name: 'Cross', country: 'FR' } });
  const host = () => new URL(server.url).host;

  test.each([
    ['same-origin', 201],
    ['same-site', 403],
    ['cross-site', 403],
    ['none', 403],
  ])('from a page that is %s answers %i', async (site, status) => {
    const { cookie } = await server.signInAs('admin');
    const answer = await create({ cookie, 'sec-fetch-site': site });
    expect(answer.status).toBe(status);
    if (status === 403) expect(answer.body.code).toBe('CROSS_SITE');
  });

  test('goes by Origin where the browser says nothing of the site', async () => {
    const { cookie } = await server.signInAs('admin');
    expect((await create({ cookie, origin: `http://${host()}` })).status).toBe(201);
    for (const origin of [
      'http://evil.example',
      'null',
      '',
      `http://${host()}.evil.example`,
      'http://localhost:1',
    ]) {
      expect((await create({ cookie, origin })).status, origin).toBe(403);
    }
    expect((await create({ cookie })).status, 'neither of them').toBe(403);
  });

  test('is refused from another site whatever stands in Authorization, unless that is who calls', async () => {
    const session = await server.signInAs('admin');
    const elsewhere = { cookie: session.cookie, 'sec-fetch-site': 'cross-site' };
    for (const authorization of ['Basic dXNlcjpwYXNz', '']) {
      expect((await create({ ...elsewhere, authorization })).status, authorization).toBe(403);
    }
    for (const authorization of ['Bearer expired', `Bearer ${'A'.repeat(43)}`]) {
      expect((await create({ ...elsewhere, authorization })).status, authorization).toBe(401);
    }
    expect((await create({ ...elsewhere, ...session.headers })).status).toBe(201);
  });

  test('does not happen, and is in the audit log as refused', async () => {
    const { cookie, userId } = await server.signInAs('admin');
    await create({ cookie, 'sec-fetch-site': 'cross-site' });
    const entries = await server.db
      .selectFrom('audit_entries')
      .selectAll()
      .where('user_id', '=', userId)
      .orderBy('audit_id')
      .execute();
    expect(entries.at(-1)).toMatchObject({
      event_type: 'call.refused',
      success: false,
      api_endpoint: 'POST /api/customers',
    });
  });

  test('covers refresh and logout too, and reads are free', async () => {
    const { cookie } = await server.signInAs('admin');
    const elsewhere = server.api({ headers: { cookie, 'sec-fetch-site': 'cross-site' } });
    expect((await elsewhere.call(calls.refresh)).status).toBe(403);
    expect((await elsewhere.call(calls.logout)).status).toBe(403);
    expect((await elsewhere.call(calls.me)).status).toBe(200);
  });
});
