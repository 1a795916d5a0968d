import { beforeEach, describe, expect, test } from 'vitest';
import { users } from '../../../contract/users.ts';
import { mostViews, views as calls, type SavedView } from '../../../contract/views.ts';
import type { RoleName } from '../../../contract/permissions.ts';
import { auditOf, startTestServer } from '../../../tests/harness.ts';
import { systemChange } from '../../change.ts';

const server = await startTestServer();
const person = async (role: RoleName) => server.api(await server.signInAs(role));
const admin = await person('super_admin');
const [ada, ben] = [await person('support_agent'), await person('viewer')];
const publisher = await person('binary_manager');

beforeEach(() =>
  systemChange(server.context, server.clock.now(), ({ tx }) => tx.deleteFrom('saved_views').execute()),
);

const body = { list: 'licenses', name: 'Full ones', query: 'tab=active&seats=full', shared: false } as const;
const make = (by = ada, fields: Partial<Pick<SavedView, 'list' | 'name' | 'query' | 'shared'>> = {}) =>
  by.ok(calls.create, { body: { ...body, ...fields } });
const at = ({ id }: { id: string }) => ({ params: { id } });
const names = async (by = ada, list?: SavedView['list']) =>
  (await by.ok(calls.list, { query: list ? { list } : {} })).map(({ name }) => name);

describe('own views', () => {
  test('are kept as in the URL, listed by name, changed and deleted', async () => {
    const view = await make();
    expect(view).toMatchObject({ ...body, isOwn: true, mayChange: true });
    await make(ada, { name: 'écoles', query: '' });
    expect(await names()).toEqual(['écoles', 'Full ones']);
    const changed = await ada.ok(calls.update, {
      ...at(view),
      body: { name: 'Fuller', query: 'seats=high', updatedAt: view.updatedAt },
    });
    expect(changed).toMatchObject({ name: 'Fuller', query: 'seats=high', shared: false });
    await ada.ok(calls.delete, at(view));
    expect(await names()).toEqual(['écoles']);
  });

  test('are seen by nobody else, an administrator included, and leave no audit entry', async () => {
    const view = await make();
    for (const other of [ben, admin]) {
      expect(await names(other)).toEqual([]);
      for (const status of [
        await other.call(calls.update, { ...at(view), body: { shared: true } }),
        await other.call(calls.delete, at(view)),
        await other.call(calls.restore, at(view)),
      ].map((answer) => answer.status))
        expect(status).toBe(404);
    }
    expect(await auditOf(server, view.id)).toEqual([]);
    expect(await names()).toEqual(['Full ones']);
  });

  test('go with their owner; shared ones stay, and an administrator may change them', async () => {
    const leaver = await server.signInAs('viewer');
    const lea = server.api(leaver);
    await make(lea);
    const shared = await make(lea, { name: 'Ours', shared: true });
    await admin.ok(users.delete, { params: { id: leaver.userId } });
    expect(await admin.ok(calls.list, {})).toMatchObject([
      { id: shared.id, ownerName: null, mayChange: true },
    ]);
    const rows = await server.db.selectFrom('saved_views').select('name').execute();
    expect(rows).toEqual([{ name: 'Ours' }]);
    const hidden = await admin.call(calls.update, { ...at(shared), body: { shared: false } });
    expect([hidden.status, hidden.body.code]).toEqual([422, 'RULE_VIOLATED']);
    await admin.ok(calls.delete, at(shared));
  });
});

describe('shared views', () => {
  test('are seen by those who may read the list, and by no others', async () => {
    const view = await make(ada, { shared: true });
    expect(await names(ben)).toEqual(['Full ones']);
    expect(await ben.ok(calls.list)).toMatchObject([{ isOwn: false, mayChange: false }]);
    expect(await names(publisher)).toEqual([]);
    expect((await publisher.call(calls.list, { query: { list: 'licenses' } })).status).toBe(403);
    expect((await publisher.call(calls.delete, at(view))).status).toBe(404);
    expect((await publisher.call(calls.create, { body })).status).toBe(403);
  });

  test('of machines and users follow the permissions of these lists', async () => {
    await make(admin, { list: 'machines', query: 'state=refused', shared: true, name: 'Refused' });
    await make(admin, { list: 'users', query: 'search=lyon', shared: true, name: 'Lyon' });
    expect(await names(publisher)).toEqual(['Refused']);
    expect(await names(admin)).toEqual(['Lyon', 'Refused']);
    expect((await publisher.call(calls.create, { body: { ...body, list: 'users' } })).status).toBe(403);
  });

  test('are changed by their owner or an administrator, with an audit entry', async () => {
    const view = await make(ada, { shared: true });
    const refused = await ben.call(calls.update, { ...at(view), body: { name: 'Mine' } });
    expect([refused.status, refused.body]).toMatchObject([422, { code: 'RULE_VIOLATED' }]);
    expect((await ben.call(calls.delete, at(view))).status).toBe(422);
    await admin.ok(calls.update, { ...at(view), body: { name: 'Theirs' } });
    // not visible to the administrator any more, who made it so
    await admin.ok(calls.update, { ...at(view), body: { shared: false } });
    expect(await names(admin)).toEqual([]);
    expect(await names()).toEqual(['Theirs']);
    const summaries = (await auditOf(server, view.id)).map((entry) => entry.changes_summary);
    expect(summaries).toEqual([
      'View Full ones: created',
      'View Theirs: name: Full ones → Theirs',
      'View Theirs: shared: true → false',
    ]);
  });

  test('leave in the audit log only what was seen of them while they were shared', async () => {
    const view = await make(ada, { name: 'Secret', query: 'search=secret' });
    const share = { name: 'Ours', query: 'seats=full', shared: true };
    await ada.ok(calls.update, { ...at(view), body: share });
    const hide = { name: 'Secret', query: 'search=secret', shared: false };
    await ada.ok(calls.update, { ...at(view), body: hide });
    const entries = await auditOf(server, view.id);
    expect(entries.map((entry) => entry.changes_summary)).toEqual([
      'View Ours: name: – → Ours; query: – → seats=full; shared: false → true',
      'View Ours: shared: true → false',
    ]);
    expect(JSON.stringify(entries)).not.toMatch(/secret/i);
  });

  test('a lost update is a conflict that names both values', async () => {
    const view = await make(ada, { shared: true });
    await admin.ok(calls.update, { ...at(view), body: { name: 'Theirs' } });
    const late = await ada.call(calls.update, {
      ...at(view),
      body: { name: 'Mine', updatedAt: view.updatedAt },
    });
    expect(late.status).toBe(409);
    expect(late.body).toMatchObject({ details: [{ path: 'name', current: 'Theirs', yours: 'Mine' }, {}] });
  });
});

describe('a deletion', () => {
  test('is undone, until the owner deletes another view', async () => {
    const [one, two, ofBen] = [await make(), await make(ada, { name: 'Two' }), await make(ben)];
    await ben.ok(calls.delete, at(ofBen));
    await ada.ok(calls.delete, at(one));
    expect(await ada.ok(calls.restore, at(one))).toMatchObject({ id: one.id, query: body.query });
    await ada.ok(calls.delete, at(one));
    await ada.ok(calls.delete, at(two));
    expect((await ada.call(calls.restore, at(one))).status).toBe(404);
    await ada.ok(calls.restore, at(two));
    expect(await names()).toEqual(['Two']);
    expect((await ada.call(calls.restore, at(two))).status).toBe(404);
    await ben.ok(calls.restore, at(ofBen));
  });

  test('is not undone over a view that has its name now', async () => {
    const view = await make();
    await ada.ok(calls.delete, at(view));
    await make();
    expect((await ada.call(calls.restore, at(view))).body).toMatchObject({ code: 'ALREADY_EXISTS' });
  });
});

describe('limits', () => {
  test('no two views of one person and list have the same name', async () => {
    await make();
    expect((await ada.call(calls.create, { body: { ...body, name: 'FULL ONES' } })).status).toBe(409);
    await make(ada, { list: 'customers' });
    await make(ben);
  });

  test('nobody owns more than 50, also with two calls at once', async () => {
    for (let n = 1; n < mostViews; n++) await make(ada, { name: `View ${n}` });
    const both = await Promise.all(
      ['Last', 'One too many'].map((name) => ada.call(calls.create, { body: { ...body, name } })),
    );
    expect(both.map(({ status }) => status).toSorted()).toEqual([201, 422]);
    await make(ben);
  });

  test('are listed however many others share', async () => {
    await make(ada, { name: 'Zuletzt' });
    await server.pool.query(
      `insert into saved_views (view_id, list, name, query, shared, created_at, updated_at)
       select gen_random_uuid(), 'licenses', 'Shared ' || n, '', true, now(), now() from generate_series(1, 500) n`,
    );
    const listed = await names();
    expect([listed.length, listed.at(-1)]).toEqual([500, 'Zuletzt']);
  });

  test('a name is text, however it looks', async () => {
    for (const name of ['<img src=x onerror=alert(1)>', 'تراخيص منتهية', 'x'.repeat(60)])
      expect((await make(ada, { name })).name).toBe(name);
    for (const name of ['', '   ', 'x'.repeat(61), 'a\u0000b'])
      expect((await ada.call(calls.create, { body: { ...body, name } })).status).toBe(400);
  });

  test.each([
    ['longer than a URL', `search=${'x'.repeat(2000)}`],
    ['of many parameters', Array.from({ length: 21 }, (_, n) => `a${'b'.repeat(n)}=1`).join('&')],
    ['with names that no list has', '__proto__=1&constructor[x]=2'],
    ['that is a URL', 'https://evil.example/?x=1'],
    ['with control characters', 'search=%00'],
  ])('a query %s is refused', async (_, query) => {
    expect((await ada.call(calls.create, { body: { ...body, query } })).status).toBe(400);
  });

  test('a query of 10 MB is refused before it is read', async () => {
    const answer = await ada.call(calls.create, { body: { ...body, query: 'x'.repeat(10_000_000) } });
    expect(answer.status).toBe(413);
    expect(await names()).toEqual([]);
  });
});
