import { sql } from 'kysely';
import { dayMs } from '../../contract/durations.ts';
import { isStorableText } from '../../contract/text.ts';
import { actorId, type Actor } from '../caller.ts';
import { clearBefore } from '../checked-time.ts';
import type { Db, Tx } from '../db/client.ts';
import type { Secrets } from '../secrets.ts';
import { fail, failField, type Failure } from '../failure.ts';
import { present } from '../invariants.ts';

export type StoredAnswer = { answer: unknown };

/** Who may repeat a request with a key: the owner of an encrypted answer. */
const ownerOf = ({ actor, key }: Claim): string => `answer ${actor} ${key}`;

/** The key of a request, undefined without one, a Failure when it is invalid. */
export function readIdempotencyKey(header: string | string[] | undefined): string | undefined | Failure {
  if (header === undefined) return undefined;
  if (typeof header === 'string' && header.length >= 1 && header.length <= 200 && isStorableText(header))
    return header;
  return failField('INVALID_INPUT', 'Idempotency-Key', 'Must be 1 to 200 characters of text');
}

export type Claim = { actor: string; key: string; request_hash: Buffer; answer: null; created_at: Date };

/** The claim of a request on its key. */
export function claimOf(
  secrets: Secrets,
  { actor, key, request, now }: { actor: Actor; key: string; request: unknown; now: Date },
): Claim {
  // Keyed: with a plain hash, anyone who reads the database could guess a password in the request.
  const request_hash = secrets.sign('request', JSON.stringify(request));
  return { actor: actorId(actor), key, request_hash, answer: null, created_at: now };
}

/**
 * Claims the key for this request inside its transaction. Undefined: the claim is new, run the change. Else what
 * `readAnswer` returns. A concurrent caller waits here until the first has committed or rolled back.
 */
export async function claimKey(tx: Tx, claim: Claim): Promise<undefined | StoredAnswer | Failure> {
  const inserted = await tx
    .insertInto('idempotency_keys')
    // clearAnswers would remove at once what a clock that was set back has dated
    .values({
      ...claim,
      created_at: sql`greatest(${claim.created_at}::timestamptz, (select at from newest_moment))`,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (inserted.numInsertedOrUpdatedRows === 1n) return undefined;
  return present(await readAnswer(tx, claim), 'it is in the way of the new claim');
}

/** The response stored under the key, if the same request ran before; a Failure if another one did. */
export async function readAnswer(
  db: Db,
  { actor, key, request_hash }: Claim,
): Promise<undefined | StoredAnswer | Failure> {
  const first = await db
    .selectFrom('idempotency_keys')
    .select(['request_hash', 'answer'])
    .where('actor', '=', actor)
    .where('key', '=', key)
    .executeTakeFirst();
  if (!first || request_hash.equals(first.request_hash)) return first && { answer: first.answer };
  return fail('IDEMPOTENCY_MISMATCH', 'This Idempotency-Key was used for another request before.');
}

/**
 * An answer that holds a secret, as stored for a repetition of its request. Null if anyone could send that request:
 * the secret would be theirs.
 */
export const sealAnswer = (secrets: Secrets, claim: Claim, answer: unknown): string | null =>
  claim.actor === actorId({ kind: 'nobody' }) ? null : secrets.seal(JSON.stringify(answer), ownerOf(claim));

/** The answer that `sealAnswer` stored. A Failure if none was stored, or for another owner. */
export function openAnswer(secrets: Secrets, claim: Claim, answer: unknown): unknown {
  const text = typeof answer === 'string' ? secrets.open(answer, ownerOf(claim)) : undefined;
  if (text !== undefined) return JSON.parse(text);
  return fail(
    'IDEMPOTENCY_MISMATCH',
    'This request was carried out before, and its answer is shown only once.',
  );
}

/** Stores the response under the claimed key, in the same transaction as the change. */
export async function keepAnswer(tx: Tx, { actor, key }: Claim, answer: unknown): Promise<void> {
  await tx
    .updateTable('idempotency_keys')
    .set({ answer: JSON.stringify(answer ?? null) })
    .where('actor', '=', actor)
    .where('key', '=', key)
    .execute();
}

/** Removes responses after a day. */
export const clearAnswers = clearBefore('idempotency_keys', 'created_at', dayMs);
