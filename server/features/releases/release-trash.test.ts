import { describe, expect, test } from 'vitest';
import { releases as calls, type Release } from '../../../contract/releases.ts';
import { makeRelease } from '../../../tests/factories.ts';
import { auditOf, days, startTestServer } from '../../../tests/harness.ts';
import { othersIn, releaseRow } from '../../../tests/rows.ts';

const server = await startTestServer();
const staff = await server.signInAs('binary_manager');
const api = server.api(staff);

const nowhere = '01920000-0000-7000-8000-000000000000';
const confirmation = 'PERMANENTLY DELETE';
const notThere =
  'There is no such release in the recycle bin. It may have been restored, or permanently deleted.';
const bin = (releaseId: string, reason = 'Broken') =>
  api.call(calls.softDelete, { params: { releaseId }, body: { reason } });
const restore = (releaseId: string, reason = 'Needed after all', updatedAt?: string) =>
  api.call(calls.restore, { params: { releaseId }, body: { reason, updatedAt } });
const destroy = (releaseId: string, body: { confirmation: string; reason: string }) =>
  api.call(calls.deletePermanently, { params: { releaseId }, body });
const get = (releaseId: string) => api.call(calls.get, { params: { releaseId } });
const trash = (query: { page?: string; pageSize?: string; search?: string } = {}, as = api) =>
  as.ok(calls.trash, { query });
async function trashed(fields: Parameters<typeof makeRelease>[1] = {}): Promise<Release> {
  const made = await makeRelease(server, fields);
  expect((await bin(made.id)).status).toBe(200);
  return made;
}

/** Where the bytes of a release lie. */
const keyOf = async (release: Release) => (await releaseRow(server, release)).storage_key!;
const isStored = async (key: string) => (await server.context.storage.sizeOf(key)) !== undefined;

describe('moving a release to the bin', () => {
  test('takes it out of the list and keeps who, when and why', async () => {
    const made = await makeRelease(server);
    const answer = await bin(made.id, ' Crashes on start ');
    expect([answer.status, answer.body.data]).toEqual([200, { id: made.id, updatedAt: expect.any(String) }]);
    const list = await api.ok(calls.list, { query: { search: made.version } });
    expect(list.map((r) => r.id)).not.toContain(made.id);
    const { releases } = await trash({ search: made.version });
    expect(releases).toEqual([
      {
        ...made,
        updatedAt: expect.any(String),
        deletedAt: server.clock.now().toISOString(),
        deletedBy: staff.userId,
        deleteUserEmail: staff.email,
        deletionReason: 'Crashes on start',
        daysUntilPermanentDeletion: 30,
      },
    ]);
    const entry = (await auditOf(server, made.id)).at(-1)!;
    expect([entry.event_type, entry.changes_summary]).toEqual([
      'release.soft_deleted',
      `${made.version} for Windows x64 (stable): moved to the recycle bin: Crashes on start`,
    ]);
  });

  test('takes only what was shown, where that is named: not a draft that a colleague has just published', async () => {
    const draft = await makeRelease(server, { isDraft: true });
    server.clock.advance(1000);
    const params = { releaseId: draft.id };
    const live = await api.ok(calls.update, { params, body: { isDraft: false } });
    const binShown = (updatedAt: string) =>
      api.call(calls.softDelete, { params, body: { reason: 'Old', updatedAt } });
    const answer = await binShown(draft.updatedAt);
    expect([answer.status, answer.body.code]).toEqual([409, 'WRONG_STATE']);
    expect((await get(draft.id)).body.data).toEqual(live);
    expect((await binShown(live.updatedAt)).status).toBe(200);
  });

  test('needs a reason, and a release that is not there yet', async () => {
    const made = await makeRelease(server);
    expect((await bin(made.id, ' ')).body.error).toBe('reason: Reason is required');
    expect((await bin(made.id, 'x'.repeat(501))).status).toBe(400);
    const withoutBody = await api.call(calls.softDelete, { params: { releaseId: made.id } } as never);
    expect(withoutBody.status).toBe(400);
    const both = await Promise.all([bin(made.id), bin(made.id)]);
    expect(both.map((a) => a.status).toSorted()).toEqual([200, 404]);
    expect(both.find((a) => a.status === 404)!.body.error).toBe(
      'This release is in the recycle bin. Restore it there first.',
    );
    expect((await bin(nowhere)).body.error).toBe('There is no such release. It may have been deleted.');
  });
});

describe('the bin', () => {
  test('comes in pages of 20, the latest deleted first, and is searched by version', async () => {
    const own = await startTestServer();
    const manager = own.api(await own.signInAs('admin'));
    const empty = { page: 1, pageSize: 20, totalCount: 0, totalPages: 0 };
    expect(await trash({}, manager)).toEqual({ releases: [], ...empty });
    for (let n = 1; n <= 21; n++) {
      const { id } = await makeRelease(own, { version: `5.${n}.0`, releaseNotes: 'notes 7.7.7' });
      own.clock.advance(1000);
      await manager.ok(calls.softDelete, { params: { releaseId: id }, body: { reason: 'x' } });
    }
    const first = await trash({}, manager);
    expect(first).toMatchObject({ page: 1, pageSize: 20, totalCount: 21, totalPages: 2 });
    expect(first.releases.map((r) => r.version)).toEqual(
      Array.from({ length: 20 }, (_, n) => `5.${21 - n}.0`),
    );
    const second = await trash({ page: '2' }, manager);
    expect(second.releases.map((r) => r.version)).toEqual(['5.1.0']);
    const found = await trash({ search: '5.2', pageSize: '2' }, manager);
    expect(found).toMatchObject({ totalCount: 3, totalPages: 2 });
    expect(found.releases.map((r) => r.version)).toEqual(['5.21.0', '5.20.0']);
    expect((await trash({ search: '7.7' }, manager)).totalCount).toBe(0);
    expect((await trash({ page: '9' }, manager)).releases).toEqual([]);
    for (const query of [{ page: '0' }, { pageSize: '0' }, { pageSize: '501' }, { page: 'x' }]) {
      expect((await manager.call(calls.trash, { query })).status).toBe(400);
    }
  });

  test('counts the days that are left whole, from 30 to 0', async () => {
    const made = await trashed();
    const left = async (ms: number) => {
      const at = server.clock.now();
      server.clock.advance(ms);
      try {
        const admin = server.api(await server.signInAs('admin'));
        return (await trash({ search: made.version }, admin)).releases[0]!.daysUntilPermanentDeletion;
      } finally {
        server.clock.set(at);
      }
    };
    expect(await left(0)).toBe(30);
    expect(await left(1)).toBe(30);
    expect(await left(days(1) - 1)).toBe(30);
    expect(await left(days(1))).toBe(29);
    expect(await left(days(23))).toBe(7);
    expect(await left(days(30) - 1)).toBe(1);
    expect(await left(days(30))).toBe(0);
    expect(await left(days(31))).toBe(0);
  });
});

describe('restoring a release', () => {
  test('brings it back as it was', async () => {
    const made = await makeRelease(server, { rolloutPercentage: 5, isMandatory: true });
    await bin(made.id);
    const answer = await restore(made.id, 'Was fine');
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.data).toEqual({ ...made, updatedAt: answer.body.data.updatedAt });
    expect((await get(made.id)).body.data).toEqual(answer.body.data);
    expect((await trash({ search: made.version })).totalCount).toBe(0);
    const entry = (await auditOf(server, made.id)).at(-1)!;
    expect([entry.event_type, entry.changes_summary]).toEqual([
      'release.restored',
      `${made.version} for Windows x64 (stable): restored: Was fine`,
    ]);
    expect((await restore(made.id)).body.error).toBe(notThere);
  });

  test('is refused where a colleague restored, changed and deleted it again since it was shown', async () => {
    const made = await makeRelease(server, { rolloutPercentage: 5 });
    const { updatedAt } = (await bin(made.id)).body.data;
    await restore(made.id);
    await api.ok(calls.rollout, { params: { releaseId: made.id }, body: { percentage: 100 } });
    const again = (await bin(made.id, 'It crashes')).body.data;
    const answer = await restore(made.id, 'Deletion undone', updatedAt);
    expect([answer.status, answer.body.error]).toEqual([
      409,
      'This release was changed since you saw it. Look at it again.',
    ]);
    expect((await restore(made.id, 'It does not', again.updatedAt)).status).toBe(200);
  });

  test('is refused when an equal one was made meanwhile', async () => {
    const old = await trashed({ version: '6.0.0' });
    const fresh = await makeRelease(server, { version: '6.0.0' });
    const answer = await restore(old.id);
    expect([answer.status, answer.body.code]).toEqual([409, 'ALREADY_EXISTS']);
    expect(answer.body.error).toBe(
      'There is already 6.0.0 for Windows x64 (stable) with a file of this kind (.exe).',
    );
    await bin(fresh.id);
    const both = await Promise.all([restore(old.id), restore(fresh.id)]);
    expect(both.map((a) => a.status).toSorted()).toEqual([200, 409]);
  });

  test('needs a reason, and something in the bin', async () => {
    const made = await trashed();
    expect((await restore(made.id, '')).body.error).toBe('reason: Reason is required');
    expect((await restore(nowhere)).status).toBe(404);
  });
});

describe('deleting a release for good', () => {
  const reason = 'Leaked key';

  test('removes it, its binary and its blockmap; the audit entry stays', async () => {
    const storage = server.context.storage;
    const blockmapKey = 'some.blockmap';
    await storage.put(
      blockmapKey,
      (async function* () {
        yield Buffer.from('map');
      })(),
    );
    const made = await trashed({ blockmapKey });
    const key = await keyOf(made);
    expect([await isStored(key), await isStored(blockmapKey)]).toEqual([true, true]);
    await trashed();
    const others = await othersIn(server, 'releases', 'release_id', made.id);
    const answer = await destroy(made.id, { confirmation, reason });
    expect([answer.status, answer.body.data]).toEqual([200, { id: made.id }]);
    expect(await othersIn(server, 'releases', 'release_id', made.id)).toEqual(others);
    expect([await isStored(key), await isStored(blockmapKey)]).toEqual([false, false]);
    expect((await trash({ search: made.version })).totalCount).toBe(0);
    const entry = (await auditOf(server, made.id)).at(-1)!;
    expect([entry.event_type, entry.changes_summary, entry.after]).toEqual([
      'release.deleted',
      `${made.version} for Windows x64 (stable): permanently deleted: Leaked key`,
      null,
    ]);
    expect(entry.before).toMatchObject({ version: made.version, deletionReason: 'Broken' });
    expect((await destroy(made.id, { confirmation, reason })).status).toBe(404);
  });

  test.each(['', 'permanently delete', ' PERMANENTLY DELETE', 'PERMANENTLY DELETE ', 'DELETE'])(
    'takes no confirmation but the exact words: not "%s"',
    async (words) => {
      const made = await trashed();
      const answer = await destroy(made.id, { confirmation: words, reason });
      expect([answer.status, answer.body.code, answer.body.error]).toEqual([
        422,
        'RULE_VIOLATED',
        'confirmation: Must be exactly "PERMANENTLY DELETE"',
      ]);
      expect(answer.body.details[0]!.path).toBe('confirmation');
      expect(await isStored(await keyOf(made))).toBe(true);
    },
  );

  test('needs a reason, and the bin first', async () => {
    const made = await makeRelease(server);
    const live = await destroy(made.id, { confirmation, reason });
    expect([live.status, live.body.error]).toEqual([404, notThere]);
    await bin(made.id);
    expect((await destroy(made.id, { confirmation, reason: '' })).body.error).toBe(
      'reason: Reason is required',
    );
    expect((await destroy(nowhere, { confirmation, reason })).status).toBe(404);
  });

  test('against restoring it: one of them wins, and a live release has its bytes', async () => {
    for (let round = 0; round < 8; round++) {
      const made = await trashed();
      const key = await keyOf(made);
      const [restored, gone] = await Promise.all([
        restore(made.id),
        destroy(made.id, { confirmation, reason }),
      ]);
      expect([restored.status, gone.status].toSorted()).toEqual([200, 404]);
      expect(await isStored(key)).toBe(restored.status === 200);
    }
  });

  test('holds when the storage fails: the file is left to the sweep', async () => {
    const lines: string[] = [];
    const own = await startTestServer({ config: { logLevel: 'error' }, onLog: (line) => lines.push(line) });
    const manager = own.api(await own.signInAs('admin'));
    const { id } = await makeRelease(own);
    await manager.ok(calls.softDelete, { params: { releaseId: id }, body: { reason } });
    own.context.storage.remove = () => Promise.reject(new Error('storage is away'));
    await manager.ok(calls.deletePermanently, {
      params: { releaseId: id },
      body: { confirmation, reason },
    });
    expect((await manager.ok(calls.trash, {})).totalCount).toBe(0);
    expect(lines.join()).toContain('left to the sweep');
  });
});
