import { beforeAll, describe, expect, test } from 'vitest';
import { audit } from '../../../contract/audit.ts';
import { approvals, requestHours, type ChangeRequest } from '../../../contract/approvals.ts';
import { releases, type Release } from '../../../contract/releases.ts';
import { rbac, users } from '../../../contract/users.ts';
import { program, sha512Of } from '../../../tests/binaries.ts';
import { makeApiKey, makeHolder, makeRelease, signInWith } from '../../../tests/factories.ts';
import {
  approveAs,
  asked,
  askFor,
  attempt,
  deactivateUser,
  doing,
  requireApproval,
  seenIn,
} from '../../../tests/approving.ts';
import {
  auditOf,
  checkedTime,
  days,
  hours,
  numbers,
  startTestServer,
  startTwin,
  type Api,
  type Session,
} from '../../../tests/harness.ts';
import { entriesOf } from '../../../tests/rows.ts';
import { nextVersion, uploader } from '../../../tests/uploading.ts';
import { systemChange } from '../../change.ts';
import { checkClock } from '../../checked-time.ts';
import { housekeep } from '../../jobs/housekeeping.ts';
import { stepRollouts } from '../rollouts/index.ts';
import { approvalRoom } from '../../../tests/approval-room.ts';

const server = await startTestServer();
const twin = await startTwin(server);
const requester = await server.signInAs('binary_manager');
const approver = await server.signInAs('binary_manager');
const admin = server.api(await server.signInAs('super_admin'));
const one = server.api(requester);
const other = server.api(approver);

const decline = (api: Api, { id: requestId }: ChangeRequest, reason = 'x') =>
  api.call(approvals.decline, { params: { requestId }, body: { reason } });
const withdraw = (api: Api, { id: requestId }: ChangeRequest) =>
  api.call(approvals.withdraw, { params: { requestId } });

test('a body that is nested deeper than any call is bad input, with a key as well', async () => {
  const call = '"call":"PATCH /api/v1/updates/admin/releases/{releaseId}","params":{}';
  const deep = `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
  const answer = await fetch(`${server.url}/api/v1/updates/admin/approvals`, {
    method: 'POST',
    headers: { ...requester.headers, 'content-type': 'application/json', 'idempotency-key': 'deep' },
    body: `{${call},"body":${deep},"seen":"2026-01-01T00:00:00.000Z"}`,
  });
  expect([answer.status, await answer.json()]).toMatchObject([400, { code: 'INVALID_INPUT' }]);
});

const { at, get, edit, publish, widen, plan, rowOf, draft, onBeta, toFew, toAll, needing } = approvalRoom(
  server,
  one,
);

describe('while the setting is off, as it is at first', () => {
  test('one person publishes, widens and resumes alone, and cannot ask', async () => {
    const required = (await one.ok(approvals.channels)).map((c) => c.required);
    expect(required).toEqual([false, false, false]);
    for (const [name, make, what] of needing) {
      const release = await make();
      const answer = await askFor(one, what(release), (await rowOf(release)).updated_at.toISOString());
      expect([answer.status, answer.body.code], name).toEqual([409, 'WRONG_STATE']);
      expect((await attempt(one, what(release))).status, name).toBe(200);
    }
  });

  test('nobody turns it on alone', async () => {
    const on = doing(approvals.setChannel, { params: { channel: 'alpha' }, body: { required: true } });
    const refused = await attempt(admin, on);
    expect([refused.status, refused.body.code]).toEqual([409, 'NEEDS_APPROVAL']);
    expect(refused.body.error).toBe(
      'Channel alpha: require the approval of a second person. This needs the approval of a second person.',
    );
    expect((await one.ok(approvals.channels)).some((c) => c.required)).toBe(false);
    const request = await asked(one, on);
    expect((await approveAs(one, request)).status).toBe(403);
    expect((await approveAs(other, request)).status).toBe(200);
    const [entry] = await entriesOf(server, 'channel.approval_changed');
    const summary = `Channel alpha: require the approval of a second person (requested by ${requester.email})`;
    expect(entry).toMatchObject({ user_email: approver.email, changes_summary: summary });
    await requireApproval(one, other, 'alpha', false);
  });
});

describe('on a channel with the setting', () => {
  beforeAll(() => requireApproval(one, other, 'stable'));

  test('what is asked for by a clock that is behind the newest time can be approved', async () => {
    await systemChange(server.context, server.clock.now(), ({ tx, now }) => checkClock(tx, now));
    server.clock.advance(-days(2));
    const again = async ({ email }: Session) => server.api(await server.signIn(email, 'binary_manager'));
    const request = await asked(await again(requester), publish(await draft()));
    const answer = await approveAs(await again(approver), request);
    server.clock.advance(days(2));
    await server.db.deleteFrom('newest_moment').execute();
    expect(answer.status, answer.text).toBe(200);
  });

  test.each(needing)('%s: one person cannot, and two can', async (_, make, what) => {
    const release = await make();
    const before = await rowOf(release);
    const refused = await attempt(one, what(release));
    expect([refused.status, refused.body.code], refused.text).toEqual([409, 'NEEDS_APPROVAL']);
    expect(await rowOf(release)).toEqual(before);
    const request = await asked(one, what(release));
    expect(await rowOf(release)).toEqual(before);
    expect((await approveAs(one, request)).status).toBe(403);
    const answer = await approveAs(other, request);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.data).toMatchObject({ state: 'approved', decidedBy: approver.email });
    const after = await rowOf(release);
    for (const { field, to } of request.changes) {
      const now = (await get(release)) as Record<string, unknown>;
      expect(now[field], field).toEqual(to);
    }
    expect(after.updated_at).not.toEqual(before.updated_at);
    const entry = (await auditOf(server, release.id)).at(-1)!;
    expect(entry.user_email).toBe(approver.email);
    expect(entry.changes_summary.endsWith(` (requested by ${requester.email})`)).toBe(true);
  });

  test('a request says what changes, and both names are kept', async () => {
    const release = await makeRelease(server, { isDraft: true, rolloutPercentage: 100 });
    const request = await asked(one, publish(release, 5));
    const subject = `${release.version} for Windows x64 (stable)`;
    expect(request).toMatchObject({
      subject,
      what: 'publish at 5 %',
      changes: [
        { field: 'isDraft', from: true, to: false },
        { field: 'rolloutPercentage', from: 100, to: 5 },
      ],
      state: 'open',
      isOutdated: false,
      since: [],
      requestedBy: requester.email,
    });
    expect(Date.parse(request.expiresAt) - Date.parse(request.requestedAt)).toBe(hours(requestHours));
    expect(await other.ok(approvals.list)).toContainEqual(request);
    const [entry] = await auditOf(server, request.id);
    expect(entry!.changes_summary).toBe(`Change request for ${subject}: publish at 5 %`);
    const { entries } = await admin.ok(audit.list, { query: { resourceId: request.id } });
    expect(entries[0]!.records).toContainEqual(
      expect.objectContaining({ kind: 'release', id: release.id, name: subject }),
    );
    await approveAs(other, request);
    const { changes_summary: summary } = (await auditOf(server, release.id)).at(-1)!;
    expect(summary).toBe(`${subject}: published at 5 % (requested by ${requester.email})`);
  });

  test('long notes do not push the name out of the entry', async () => {
    const what = edit(await onBeta(), { channel: 'stable', releaseNotes: 'n'.repeat(5000) });
    await approveAs(other, await asked(one, what));
    const { changes_summary: summary } = (await entriesOf(server, 'release.updated')).at(-1)!;
    expect(summary).toHaveLength(1000);
    expect(summary).toContain(`(requested by ${requester.email})`);
  });

  test('one person still pauses, withdraws, narrows, deletes and edits', async () => {
    const release = await makeRelease(server, { rolloutPercentage: 20 });
    const steps = [
      doing(releases.pause, { ...at(release), body: { reason: 'x' } }),
      // a pause of staff may be ended by staff
      doing(releases.resume, at(release)),
      widen(release, 99),
      widen(release, 5),
      plan(release, [toAll[0]!, { percentage: 99, hours: null }]),
      plan(release, null),
      edit(release, { releaseNotes: 'Better' }),
      doing(releases.withdraw, { ...at(release), body: { reason: 'x' } }),
      doing(releases.softDelete, { ...at(release), body: { reason: 'x' } }),
    ];
    for (const step of steps) expect((await attempt(one, step)).status, step.route.path).toBe(200);
  });

  test('the clock takes the steps of a plan that two people published', async () => {
    const release = await draft();
    const request = await asked(one, edit(release, { isDraft: false, rolloutPlan: toAll }));
    expect(request.what).toBe('publish with the plan 5 % for 24 h, 100 %');
    expect((await approveAs(other, request)).status).toBe(200);
    const from = server.clock.now();
    server.clock.advance(hours(24));
    await stepRollouts(server.context, checkedTime(server)).finally(() => server.clock.set(from));
    expect((await rowOf(release)).rollout_percentage).toBe(100);
    const entry = (await auditOf(server, release.id)).at(-1)!;
    expect([entry.user_email, entry.changes_summary.includes('requested by')]).toEqual(['system', false]);
  });

  test('no call and no key creates a published release, and the form may create a draft', async () => {
    const bytes = program(5000);
    const up = uploader(server.url, one, requester);
    const fields = { file: bytes, channel: 'stable', is_draft: 'false' };
    const key = await makeApiKey(admin, { scopes: ['releases'] });
    const byKey = uploader(server.url, server.api(key), key);
    const prepared = await up.prepare(bytes);
    await up.sendAll(bytes, prepared);
    const version = nextVersion();
    const fileUrl = 'https://example.com/Setup.exe';
    const url = { version, fileUrl, fileSize: 5, sha512: sha512Of(bytes) };
    const answers = await Promise.all([
      up.direct({ ...fields, version: nextVersion() }),
      byKey.direct({ ...fields, version: nextVersion() }),
      up.complete(bytes, prepared, { version, isDraft: false }),
      one.call(releases.createFromUrl, { body: { ...url, isDraft: false } }),
    ]);
    for (const answer of answers) {
      expect([answer.status, answer.body.code], answer.text).toEqual([409, 'NEEDS_APPROVAL']);
      expect(answer.body.error).toBe(
        'Publishing on the channel stable needs the approval of a second person. Create the release as a draft, then publish it: you can ask for the approval there.',
      );
    }
    const asDraft = await up.complete(bytes, prepared, { version, isDraft: true });
    expect(asDraft.status, asDraft.text).toBe(201);
    expect((await byKey.direct({ ...fields, version: nextVersion(), is_draft: 'true' })).status).toBe(201);
    const elsewhere = await byKey.direct({ ...fields, version: nextVersion(), channel: 'beta' });
    expect(elsewhere.status, elsewhere.text).toBe(201);
  });

  test('a request that expired, also by a clock that is then set back', async () => {
    const release = await draft();
    const from = server.clock.now();
    const request = await asked(one, publish(release));
    server.clock.advance(hours(requestHours));
    const again = () => server.signIn(approver.email, 'binary_manager').then((who) => server.api(who));
    try {
      await server.db
        .insertInto('newest_moment')
        .values({ at: server.clock.now() })
        .onConflict((on) => on.column('only_row').doUpdateSet({ at: server.clock.now() }))
        .execute();
      const late = await approveAs(await again(), request);
      expect([late.status, late.body.error]).toEqual([409, 'This change request has expired.']);
      server.clock.set(from);
      expect((await approveAs(await again(), request)).body.error).toBe('This change request has expired.');
    } finally {
      server.clock.set(from);
      await server.db.deleteFrom('newest_moment').execute();
    }
    expect((await get(release)).isDraft).toBe(true);
  });

  test('a request that was made while the clock was ahead', async () => {
    const release = await draft();
    const from = server.clock.now();
    server.clock.advance(days(300));
    const ahead = server.api(await server.signIn(requester.email, 'binary_manager'));
    const request = await asked(ahead, publish(release));
    server.clock.set(from);
    expect((await approveAs(other, request)).body.error).toBe('This change request has expired.');
    const open = await asked(one, publish(await draft()));
    await housekeep(server.context, checkedTime(server));
    expect((await approveAs(other, open)).status).toBe(200);
    server.clock.advance(days(300));
    const then = server.api(await server.signIn(approver.email, 'binary_manager'));
    const late = await approveAs(then, request);
    server.clock.set(from);
    expect(late.body.error).toBe('This change request has expired.');
  });

  test.each([
    ['published', draft, (r: Release) => publish(r)],
    ['widened', toFew, (r: Release) => widen(r)],
  ])('a release that changed meanwhile is not %s without a new request', async (_, make, what) => {
    const release = await make();
    const request = await asked(one, what(release));
    await one.ok(releases.update, { ...at(release), body: { releaseNotes: 'Different' } });
    expect((await other.ok(approvals.list)).find(({ id }) => id === request.id)).toMatchObject({
      state: 'open',
      isOutdated: true,
      since: [{ by: requester.email, what: expect.stringContaining('Different') }],
    });
    const before = await rowOf(release);
    const answer = await approveAs(other, request);
    expect([answer.status, answer.body.code]).toEqual([409, 'EDIT_CONFLICT']);
    expect(await rowOf(release)).toEqual(before);
  });

  test('nobody asks with another version than the present one, or twice', async () => {
    const release = await draft();
    const what = publish(release, 7);
    for (const late of [what, widen(await toFew())]) {
      const old = await askFor(one, late, new Date(0).toISOString());
      expect([old.status, old.body.code]).toEqual([409, 'EDIT_CONFLICT']);
    }
    const answers = await Promise.all(
      numbers(5).map((i) => askFor((i % 2 ? twin : server).api(requester), what, release.updatedAt)),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409]);
    // the version is compared in any case, so naming it makes no other request
    const named = edit(release, { isDraft: false, rolloutPercentage: 7, updatedAt: release.updatedAt });
    const again = await askFor(one, named, release.updatedAt);
    expect([again.status, again.body.code]).toEqual([409, 'ALREADY_EXISTS']);
  });

  test('a requester who was deactivated, lost the permission, or must set up a second factor first', async () => {
    const strict = { description: 'x', copyFrom: 'viewer', roleId: 'strict' };
    const { permissions } = await admin.ok(rbac.createRole, { body: strict });
    await admin.ok(rbac.updateRole, {
      params: { roleId: 'strict' },
      body: { description: 'x', requiresSecondFactor: true, permissions },
    });
    for (const lose of [
      (userId: string) => deactivateUser(admin, userId),
      (userId: string) => server.db.deleteFrom('user_roles').where('user_id', '=', userId).execute(),
      (userId: string) => admin.ok(rbac.assignRole, { params: { userId, roleId: 'strict' } }),
    ]) {
      const third = await server.signInAs('binary_manager');
      const release = await draft();
      const request = await asked(server.api(third), publish(release));
      const shown = async (waiting?: 'true') =>
        (await other.ok(approvals.list, { query: { waiting } })).find(({ id }) => id === request.id);
      expect(await shown('true')).toMatchObject({ requesterMay: true });
      await lose(third.userId);
      expect(await shown()).toMatchObject({ state: 'open', requesterMay: false });
      // not counted on Today either, which asks for the same
      expect(await shown('true')).toBeUndefined();
      const answer = await approveAs(other, request);
      const error = `${third.email}, who asked, may not make this change anymore. Somebody else must ask.`;
      expect([answer.status, answer.body.error]).toEqual([409, error]);
      expect((await get(release)).isDraft).toBe(true);
      expect(await asked(one, publish(release))).toMatchObject({ state: 'open', requesterMay: true });
    }
  });

  test('a second person without the permission of the call itself, who is not told of it either', async () => {
    const release = await draft();
    const request = await asked(one, publish(release));
    const switching = await asked(
      one,
      doing(approvals.setChannel, { params: { channel: 'alpha' }, body: { required: true } }),
    );
    const second = await signInWith(server, admin, [
      { resource: 'rollouts', action: 'read' },
      { resource: 'rollouts', action: 'update' },
    ]);
    const waiting = await second.ok(approvals.list, { query: { waiting: 'true' } });
    const ids = waiting.map(({ id }) => id);
    expect([ids.includes(request.id), ids.includes(switching.id)]).toEqual([false, true]);
    await withdraw(one, switching);
    const answer = await approveAs(second, request);
    expect([answer.status, answer.body.error]).toEqual([403, 'You lack the permission releases:update.']);
    const agent = server.api(await server.signInAs('support_agent'));
    expect((await approveAs(agent, request)).status).toBe(403);
    expect((await get(release)).isDraft).toBe(true);
  });

  test('a requester who may only look by now still withdraws their own request, and no other', async () => {
    const third = await server.signInAs('binary_manager');
    const release = await draft();
    const request = await asked(server.api(third), publish(release));
    const { role } = await makeHolder(admin, [{ resource: 'rollouts', action: 'read' }]);
    await admin.ok(users.update, { params: { id: third.userId }, body: { role } });
    expect((await withdraw(server.api(third), request)).body.data).toMatchObject({ state: 'withdrawn' });
    const again = await asked(one, publish(release));
    expect((await withdraw(server.api(third), again)).body.code).toBe('WRONG_STATE');
  });

  test('a password that is wrong is refused, audited and throttled', async () => {
    const guesser = await server.signInAs('binary_manager');
    const release = await draft();
    const request = await asked(one, publish(release));
    const api = server.api(guesser);
    const statuses = [];
    for (let i = 0; i < 12; i++) statuses.push((await approveAs(api, request, `wrong ${i}`)).status);
    expect([statuses[0], statuses.at(-1)]).toEqual([401, 429]);
    expect((await approveAs(api, request)).status).toBe(429);
    expect((await get(release)).isDraft).toBe(true);
    const refusals = await auditOf(server, guesser.userId);
    expect(refusals.map((entry) => entry.event_type)).toContain('user.password_refused');
  });

  test('what was declined or withdrawn is never approved', async () => {
    const release = await draft();
    const declined = await asked(one, publish(release));
    expect((await decline(one, declined)).body.code).toBe('WRONG_STATE');
    expect((await decline(other, declined, 'Not on Friday')).status).toBe(200);
    const error = `This change request was declined by ${approver.email}.`;
    expect((await approveAs(other, declined)).body.error).toBe(error);
    const [, entry] = await auditOf(server, declined.id);
    expect(entry!.changes_summary).toMatch(/: declined to publish at 100 %: Not on Friday$/);

    const withdrawn = await asked(one, publish(release));
    expect((await withdraw(other, withdrawn)).body.code).toBe('WRONG_STATE');
    expect((await withdraw(one, withdrawn)).status).toBe(200);
    expect((await approveAs(other, withdrawn)).status).toBe(409);
    expect((await auditOf(server, withdrawn.id))[1]).toMatchObject({ event_type: 'approval.withdrawn' });
    expect((await get(release)).isDraft).toBe(true);
  });

  test('only calls of the list can be asked for, with input that they would take', async () => {
    const release = await draft();
    const seen = release.updatedAt;
    const deletion = doing(releases.softDelete, { ...at(release), body: { reason: 'x' } });
    const wrong = edit(release, { isDraft: 'no' as never });
    const more = publish(release);
    more.request.params = { releaseId: release.id, x: 'a\0b' };
    const off = doing(approvals.setChannel, { params: { channel: 'stable' }, body: { required: false } });
    off.request.params = { channel: 'stable', releaseId: release.id };
    for (const what of [deletion, wrong, more, off]) expect((await askFor(one, what, seen)).status).toBe(400);
    expect((await askFor(one, widen(release), seen)).body.code).toBe('WRONG_STATE');
    const viewer = server.api(await server.signInAs('viewer'));
    expect((await askFor(viewer, publish(release), seen)).status).toBe(403);
    const key = await makeApiKey(admin, { scopes: ['releases'] });
    expect((await askFor(server.api(key), publish(release), seen)).status).toBe(403);
  });

  test('turned off again by two, one person publishes alone', async () => {
    const off = doing(approvals.setChannel, { params: { channel: 'stable' }, body: { required: false } });
    const refused = await attempt(admin, off);
    expect(refused.body.code).toBe('NEEDS_APPROVAL');
    expect(seenIn(refused.body.details)).toMatch(/^\d{4}-/);
    await requireApproval(one, other, 'stable', false);
    expect((await attempt(one, publish(await draft()))).status).toBe(200);
  });
});
