import { beforeAll, describe, expect, test } from 'vitest';
import { approvals, type ChangeRequest } from '../../../contract/approvals.ts';
import { makeRelease } from '../../../tests/factories.ts';
import { approveAs, asked, attempt, doing, requireApproval } from '../../../tests/approving.ts';
import { auditOf, password, startTestServer, startTwin, type Api } from '../../../tests/harness.ts';
import { openHolder } from '../../../tests/waiting-calls.ts';
import { approvalRoom } from '../../../tests/approval-room.ts';

const server = await startTestServer();
const twin = await startTwin(server);
const requester = await server.signInAs('binary_manager');
const approver = await server.signInAs('binary_manager');

const one = server.api(requester);
const other = server.api(approver);

const decline = (api: Api, { id: requestId }: ChangeRequest, reason = 'x') =>
  api.call(approvals.decline, { params: { requestId }, body: { reason } });
const withdraw = (api: Api, { id: requestId }: ChangeRequest) =>
  api.call(approvals.withdraw, { params: { requestId } });

const { get, publish, rowOf, draft, needing } = approvalRoom(server, one);

describe('at once, on a channel with the setting', () => {
  beforeAll(() => requireApproval(one, other, 'stable'));

  test('all of them at once, many times, in two processes: nothing is published by one', async () => {
    const doors = await Promise.all(
      needing.map(async ([, make, what]) => {
        const release = await make();
        return { release, before: await rowOf(release), what: what(release) };
      }),
    );
    const off = doing(approvals.setChannel, { params: { channel: 'stable' }, body: { required: false } });
    const again = await server.signIn(requester.email, 'binary_manager');
    const apis = [one, twin.api(requester), server.api(again), twin.api(again)];
    const requests = await Promise.all(doors.map(({ what }) => asked(one, what)));
    const answers = await Promise.all(
      apis.flatMap((api) => [
        ...doors.map(({ what }) => attempt(api, what)),
        attempt(api, off),
        ...requests.map((request) => approveAs(api, request)),
      ]),
    );
    // a busy machine may also refuse some of them for now
    const codes = new Set(answers.map(({ body }) => body.code));
    codes.delete('UNAVAILABLE');
    expect([...codes].toSorted()).toEqual(['FORBIDDEN', 'NEEDS_APPROVAL']);
    for (const { release, before } of doors) expect(await rowOf(release)).toEqual(before);
  });

  test('twenty approvals at once in two processes carry it out once, with one entry', async () => {
    const release = await draft();
    const request = await asked(one, publish(release));
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => approveAs((i % 2 ? twin : server).api(approver), request)),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(19).fill(409)]);
    const entries = await auditOf(server, release.id);
    expect(entries.filter((entry) => entry.event_type === 'release.published')).toHaveLength(1);
  });

  test('of approving, declining and withdrawing at once, one happens', async () => {
    const release = await draft();
    const request = await asked(one, publish(release));
    const answers = await Promise.all([
      approveAs(twin.api(approver), request),
      decline(other, request),
      withdraw(one, request),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const { state } = (await one.ok(approvals.list)).find(({ id }) => id === request.id)!;
    expect((await get(release)).isDraft).toBe(state !== 'approved');
  });

  test('a publication waits for a change of the setting in progress, and then needs two', async () => {
    const release = await makeRelease(server, { channel: 'beta', isDraft: true });
    const holder = await openHolder(server);
    const answers = await holder.whileWaiting(
      [`update channel_approvals set required = true where channel = 'beta'`],
      () => Promise.all([server, twin].map((process) => attempt(process.api(requester), publish(release)))),
    );
    for (const answer of answers) expect(answer.body.code, answer.text).toBe('NEEDS_APPROVAL');
    await requireApproval(one, other, 'beta', false);
  });

  test('the setting waits for a publication in progress', async () => {
    const holder = await openHolder(server);
    await holder.whileWaiting([`select from channel_approvals where channel = 'beta' for share`], () =>
      requireApproval(one, other, 'beta'),
    );
    await requireApproval(one, other, 'beta', false);
  });

  test('a requester whose role changes while the approval waits for that', async () => {
    const third = await server.signInAs('binary_manager');
    const release = await draft();
    const request = await asked(server.api(third), publish(release));
    const holder = await openHolder(server);
    const answer = await holder.whileWaiting(
      [`update users set updated_at = now() where user_id = $1`, third.userId],
      () => approveAs(other, request),
      () => holder.query('delete from user_roles where user_id = $1', third.userId),
    );
    expect([answer.status, answer.body.code], answer.text).toEqual([409, 'WRONG_STATE']);
    expect((await get(release)).isDraft).toBe(true);
  });

  test('a repeated approval with the same key answers the same', async () => {
    const release = await draft();
    const request = await asked(one, publish(release));
    const call = { params: { requestId: request.id }, body: { currentPassword: password } };
    const send = () => other.call(approvals.approve, call, { 'idempotency-key': release.id });
    const first = await send();
    expect(first.status).toBe(200);
    expect((await send()).body.data).toEqual(first.body.data);
  });
});
