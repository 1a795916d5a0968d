import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { hourMs } from '../../../contract/durations.ts';
import { callName } from '../../../contract/address.ts';
import {
  approvableCalls,
  mayAskFor,
  mostOpenRequests,
  requestHours,
  type approvals as calls,
  type ChangeRequest,
} from '../../../contract/approvals.ts';
import type { Route, RouteInput } from '../../../contract/route.ts';
import { personOf, type Caller } from '../../caller.ts';
import { runChange, type Change } from '../../change.ts';
import { latestTime } from '../../checked-time.ts';
import type { Config } from '../../config.ts';
import type { Context } from '../../context.ts';
import type { Tx } from '../../db/client.ts';
import { countOf, presentPermissions } from '../../db/sql.ts';
import { fail, isFailure, type Failure } from '../../failure.ts';
import { authorize } from '../../http/authorize.ts';
import type { Call, ChangeHandler, Implemented } from '../../http/call.ts';
import { checkInput } from '../../http/input.ts';
import { isNeedsApproval, type Wanted } from './needs-approval.ts';
import { lockVersion, stateOf, toRequest, type RequestRow } from './open-requests.ts';

type Ask = RouteInput<typeof calls.ask>['body'];
type AskedCall = {
  call: string;
  params: Readonly<Record<string, string | undefined>>;
  body?: unknown;
  seen: string;
};
/** Whether the settings hold back who has a password of somebody else. */
type OwnPassword = Pick<Config, 'requireOwnPassword'>;
type Approvable = { route: Route; handler: ChangeHandler<Route> };

const notFound = fail('NOT_FOUND', 'There is no such change request.');
const notNeeded = fail('WRONG_STATE', 'This change needs no second person: you can make it yourself.');
const outdated = (subject: string, then: string) =>
  fail('EDIT_CONFLICT', `${subject} was changed after the approval was asked for. ${then}`);

/** The calls that can be approved, by name. Each must run in the transaction of the approval. */
export function approvableOf(implemented: readonly Implemented[]): Map<string, Approvable> {
  const found = implemented.flatMap(({ route, handler }): [string, Approvable][] => {
    if (!approvableCalls.includes(callName(route))) return [];
    if (typeof handler === 'function' || handler.prepare)
      throw new Error(`${callName(route)} cannot be approved: it does more than one change`);
    return [[callName(route), { route, handler }]];
  });
  const missing = approvableCalls.filter((name) => !found.some(([one]) => one === name));
  if (missing.length > 0) throw new Error(`Not implemented, and thus not approvable: ${missing.join(', ')}`);
  return new Map(found);
}

/**
 * Makes the call as the requester, to be rolled back: returns what a request for it is about. WRONG_STATE if the call
 * needs no approval, else why the requester may not make it.
 */
export async function tryOut(
  context: Context,
  approvable: ReadonlyMap<string, Approvable>,
  by: Caller,
  asked: Ask,
): Promise<Wanted | Failure> {
  const result = await runChange<unknown>(context, by, async (change) => {
    const made = await makeCall(change, approvable, asked);
    return isFailure(made) ? made : notNeeded;
  });
  if (isNeedsApproval(result)) return result.wanted;
  return isFailure(result) ? result : notNeeded;
}

/** Every rule of the call: permission, input, state. */
async function makeCall(
  change: Change,
  approvable: ReadonlyMap<string, Approvable>,
  { call: name, params, body, seen }: AskedCall,
): Promise<unknown> {
  const { by } = change;
  const called = approvable.get(name);
  if (!called) return notFound;
  const denied = authorize(called.route.access, by.actor);
  if (denied) return denied;
  // it would name another record to who approves
  const unknown = Object.keys(params).find((one) => !called.route.path.includes(`{${one}}`));
  if (unknown) return fail('INVALID_INPUT', `params.${unknown}: Unknown field`);
  const input = checkInput(called.route, { params, query: {}, body });
  if (isFailure(input)) return input;
  return called.handler.change(change, { ...input, by, seen } as Call<Route>, undefined);
}

/** Keeps the request. EDIT_CONFLICT if the subject is no longer as the requester saw it. */
export async function ask(
  change: Change,
  config: OwnPassword,
  asked: Ask,
  wanted: Wanted,
): Promise<ChangeRequest | Failure> {
  const { tx, by } = change;
  // by a clock that is behind, it would have expired already
  const now = await latestTime(tx, change.now);
  const { userId, email } = personOf(by);
  const version = await lockVersion(tx, wanted.subjectId);
  const isSeen = [version?.toISOString(), wanted.seen].every((one) => one === asked.seen);
  if (!version || !isSeen) return outdated(wanted.subject, 'Look at it again, and ask again.');
  const full = await refuseMore(tx, config, { asked, wanted, now });
  if (full) return full;
  const row = await tx
    .insertInto('change_requests')
    .values({
      request_id: uuidv7(),
      call: asked.call,
      params: JSON.stringify(asked.params),
      body: asked.body ? JSON.stringify(asked.body) : null,
      subject_id: wanted.subjectId,
      seen: version,
      subject: wanted.subject,
      what: wanted.what,
      changes: JSON.stringify(wanted.changes),
      requested_by: userId,
      requested_by_email: email,
      requested_at: now,
      expires_at: new Date(now.getTime() + requestHours * hourMs),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  const request = toRequest(row, version, now);
  await change.audit('approval.requested', request, {
    what: request.what,
    after: { ...request, params: row.params, body: row.body, seen: asked.seen },
  });
  return request;
}

async function refuseMore(
  tx: Tx,
  config: OwnPassword,
  { asked, wanted, now }: { asked: Ask; wanted: Wanted; now: Date },
): Promise<Failure | undefined> {
  const open = tx
    .selectFrom('change_requests')
    .where('state', '=', 'open')
    .where('expires_at', '>', now)
    .where('requested_at', '<=', now);
  const body = asked.body ? JSON.stringify(asked.body) : null;
  const same = await open
    .select(['requested_by', 'requested_by_email', 'call'])
    .where('subject_id', '=', wanted.subjectId)
    .where('call', '=', asked.call)
    .where('seen', '=', new Date(asked.seen))
    // `seen` compares the version, whether or not the body names it as well
    .where(sql<boolean>`body - 'updatedAt' is not distinct from ${body}::jsonb - 'updatedAt'`)
    .execute();
  for (const row of same)
    if (await mayStill(tx, config, row))
      return fail('ALREADY_EXISTS', `${row.requested_by_email} already asked for this.`);
  if ((await countOf(open)) < mostOpenRequests) return undefined;
  return fail(
    'WRONG_STATE',
    `${mostOpenRequests} change requests are open already. Decide some of them first.`,
  );
}

/**
 * Makes the requested call as the second person, with every check of that call. The requester must still be allowed to
 * make it, and the subject must still be as they saw it.
 */
export async function approve(
  change: Change,
  config: OwnPassword,
  approvable: ReadonlyMap<string, Approvable>,
  requestId: string,
): Promise<ChangeRequest | Failure> {
  const { tx, by } = change;
  const row = await lockOpen(change, requestId);
  if (isFailure(row)) return row;
  if (row.requested_by === personOf(by).userId)
    return fail('FORBIDDEN', 'You asked for this yourself: it needs the approval of another person.');
  if (!(await mayStill(tx, config, row)))
    return fail(
      'WRONG_STATE',
      `${row.requested_by_email}, who asked, may not make this change anymore. Somebody else must ask.`,
    );
  const version = await lockVersion(tx, row.subject_id);
  if (version?.getTime() !== row.seen.getTime())
    return outdated(row.subject, `${row.requested_by_email} may ask again.`);
  const consented = change.withConsent({
    requestedBy: row.requested_by_email,
    subjectId: row.subject_id,
  });
  const made = await makeCall(consented, approvable, {
    call: row.call,
    params: row.params as Record<string, string>,
    body: row.body ?? undefined,
    seen: row.seen.toISOString(),
  });
  // the entry of that call names both people
  return isFailure(made) ? made : decide(change, row, { state: 'approved' });
}

/** Whether the requester is active and may ask for it; holds up their deactivation until the change ends. */
async function mayStill(
  tx: Tx,
  config: OwnPassword,
  { requested_by, call }: Pick<RequestRow, 'requested_by' | 'call'>,
): Promise<boolean> {
  const requester = tx.selectFrom('users as u').where('u.user_id', '=', requested_by);
  // by itself, since a query that waits reads the roles of before
  await requester.select('u.user_id').forShare().execute();
  const user = await requester
    .select(presentPermissions(config))
    .where('u.status', '=', 'active')
    .executeTakeFirst();
  return mayAskFor(call, user?.permissions ?? []);
}

/** Declines the request of another user. */
export async function decline(
  change: Change,
  requestId: string,
  reason: string,
): Promise<ChangeRequest | Failure> {
  const row = await lockOpen(change, requestId);
  if (isFailure(row)) return row;
  if (row.requested_by === personOf(change.by).userId)
    return fail('WRONG_STATE', 'This is your own request: withdraw it.');
  const request = await decide(change, row, { state: 'declined', reason });
  await change.audit('approval.declined', request, { what: `declined to ${row.what}: ${reason}` });
  return request;
}

/** Withdraws the caller's own request. */
export async function withdraw(change: Change, requestId: string): Promise<ChangeRequest | Failure> {
  const row = await lockOpen(change, requestId);
  if (isFailure(row)) return row;
  if (row.requested_by !== personOf(change.by).userId)
    return fail('WRONG_STATE', 'Only the user who asked may withdraw a request. You can decline it.');
  const request = await decide(change, row, { state: 'withdrawn' });
  await change.audit('approval.withdrawn', request, { what: `withdrew the request to ${row.what}` });
  return request;
}

async function lockOpen({ tx, now }: Change, requestId: string): Promise<RequestRow | Failure> {
  const row = await tx
    .selectFrom('change_requests')
    .selectAll()
    .where('request_id', '=', requestId)
    .forUpdate()
    .executeTakeFirst();
  if (!row) return notFound;
  const state = stateOf(row, await latestTime(tx, now));
  if (state === 'open') return row;
  const who = row.decided_by_email === null ? '' : ` by ${row.decided_by_email}`;
  const ended = state === 'expired' ? 'has expired' : `was ${state}${who}`;
  return fail('WRONG_STATE', `This change request ${ended}.`);
}

async function decide(
  { tx, by, now }: Change,
  { request_id }: RequestRow,
  decision: { state: 'approved' | 'declined' | 'withdrawn'; reason?: string },
): Promise<ChangeRequest> {
  const { userId, email } = personOf(by);
  const row = await tx
    .updateTable('change_requests')
    .set({ ...decision, decided_by: userId, decided_by_email: email, decided_at: now })
    .where('request_id', '=', request_id)
    .returningAll()
    .executeTakeFirstOrThrow();
  return toRequest(row, undefined, now);
}
