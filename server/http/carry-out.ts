import type { FastifyRequest } from 'fastify';
import type { Route } from '../../contract/route.ts';
import { runChange } from '../change.ts';
import type { Context } from '../context.ts';
import { refuseEnded } from '../ended-caller.ts';
import { isFailure } from '../failure.ts';
import type { Call, ChangeHandler } from './call.ts';
import {
  claimKey,
  claimOf,
  keepAnswer,
  openAnswer,
  readAnswer,
  readIdempotencyKey,
  sealAnswer,
  type Claim,
  type StoredAnswer,
} from './idempotency.ts';

/** Runs the handler of a change in its transaction; a repeated `Idempotency-Key` gets the stored response instead. */
export async function carryOut(
  context: Context,
  { route, handler }: { route: Route; handler: ChangeHandler<Route> },
  request: FastifyRequest,
  call: Call<Route>,
) {
  const key = readIdempotencyKey(request.headers['idempotency-key']);
  if (isFailure(key)) return key;
  const { actor, now } = call.by;
  const { secrets } = context;
  // one that no schema has read may be nested too deeply for JSON.stringify
  const body = route.anyBody ? null : (request.body ?? null);
  const asked = [route.method, request.url, body, request.headers['if-match'] ?? null];
  const claim = key === undefined ? undefined : claimOf(secrets, { actor, key, request: asked, now });
  const repeated = (earlier: StoredAnswer, by: Claim) => {
    void call.http.reply.header('idempotent-replayed', 'true');
    return route.shownOnce ? openAnswer(secrets, by, earlier.answer) : (earlier.answer ?? undefined);
  };
  // Not prepared again: the old password of a completed change would count as a wrong guess. Another request with the key
  // is prepared, so that its password counts: otherwise any number could be compared with the first one.
  const before = claim && handler.prepare && (await readAnswer(context.db, claim));
  if (claim && before && !isFailure(before)) return repeated(before, claim);
  const prepared = await handler.prepare?.(call);
  let mayBeUsed = false;
  const answer = runChange<unknown>(context, call.by, async (change) => {
    mayBeUsed = false;
    const earlier = claim && (await claimKey(change.tx, claim));
    if (claim && earlier) return isFailure(earlier) ? earlier : repeated(earlier, claim);
    // checked only now: a call that has been completed meanwhile returns its stored response
    if (isFailure(prepared)) return prepared;
    // Preparing may take seconds. A password that was reset meanwhile must not be replaced by a thief's.
    const ended = handler.prepare && (await refuseEnded(change.tx, actor, context));
    if (ended) return ended;
    const result: unknown = await handler.change(change, call, prepared);
    if (claim && !isFailure(result))
      await keepAnswer(change.tx, claim, route.shownOnce ? sealAnswer(secrets, claim, result) : result);
    // the response to its commit may be lost
    mayBeUsed = !isFailure(result);
    return result;
  });
  try {
    return await answer;
  } finally {
    if (!mayBeUsed && !isFailure(prepared)) await handler.giveBack?.(prepared as never);
  }
}
