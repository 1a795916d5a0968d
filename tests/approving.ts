import { callName } from '../contract/address.ts';
import { approvals, type ChangeRequest } from '../contract/approvals.ts';
import { users } from '../contract/users.ts';
import type { ErrorDetail } from '../contract/errors.ts';
import type { Release } from '../contract/releases.ts';
import type { Route, RouteRequest } from '../contract/route.ts';
import type { Channel } from '../contract/versions.ts';
import { systemChange } from '../server/change.ts';
import { isFailure } from '../server/failure.ts';
import { pauseRollout } from '../server/features/releases/index.ts';
import { password, type Answer, type Api, type TestServer } from './harness.ts';

/* Change requests, as the console makes them. */

/** A call with its request: what somebody wants to do. */
export type Doing = { route: Route; request: { params?: unknown; body?: unknown } };

export const doing = <R extends Route>(route: R, request: RouteRequest<R> & Doing['request']): Doing => ({
  route,
  request,
});

/** Makes the call. */
export const attempt = (api: Api, { route, request }: Doing) => api.call(route, request);

/** The version that a refusal tells. */
export const seenIn = (details: readonly ErrorDetail[]) =>
  details.find(({ path }) => path === 'updatedAt')!.current as string;

/** Asks a second person for a call, with the version of the release or channel as it was seen. */
export const askFor = (api: Api, { route, request }: Doing, seen: string) =>
  api.call(approvals.ask, {
    body: {
      call: callName(route),
      params: request.params ?? {},
      ...(request.body === undefined ? {} : { body: request.body as Record<string, unknown> }),
      seen,
    },
  });

/** Attempts the call, which must be refused, and asks for it. */
export async function asked(api: Api, what: Doing): Promise<ChangeRequest> {
  const refused = await attempt(api, what);
  if (refused.body.code !== 'NEEDS_APPROVAL') throw new Error(`It was not refused: ${refused.text}`);
  const answer = await askFor(api, what, seenIn(refused.body.details));
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body.data;
}

export const approveAs = (
  api: Api,
  { id }: Pick<ChangeRequest, 'id'>,
  currentPassword = password,
): Promise<Answer<typeof approvals.approve>> =>
  api.call(approvals.approve, { params: { requestId: id }, body: { currentPassword } });

/** Two people set whether a channel requires approvals. */
export async function requireApproval(
  requester: Api,
  approver: Api,
  channel: Channel,
  required = true,
): Promise<void> {
  const request = await asked(
    requester,
    doing(approvals.setChannel, { params: { channel }, body: { required } }),
  );
  const answer = await approveAs(approver, request);
  if (answer.status !== 200) throw new Error(answer.text);
}

/** Pauses a rollout as the failure guard does. */
export async function pauseByGuard(server: TestServer, { id }: Pick<Release, 'id'>): Promise<void> {
  const paused = await systemChange(server.context, server.clock.now(), (change) =>
    pauseRollout(change, id, '6 of 60 installs failed'),
  );
  if (isFailure(paused)) throw new Error(paused.message);
}

export const deactivateUser = (api: Api, userId: string) =>
  api.ok(users.deactivate, { params: { id: userId } });
