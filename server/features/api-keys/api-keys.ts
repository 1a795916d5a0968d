import { sql, type Updateable } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { daysFrom } from '../../../contract/durations.ts';
import {
  lacksForScope,
  type ApiKey,
  type ApiKeyInput,
  type apiKeys as calls,
} from '../../../contract/api-keys.ts';
import type { ApiKeyScope, RouteAnswer, RouteInput } from '../../../contract/route.ts';
import { newBearerKey } from '../../bearer-keys.ts';
import { staffOf, type Caller } from '../../caller.ts';
import { changedFields, type Change } from '../../change.ts';
import { isWithin } from '../../checked-time.ts';
import type { Db } from '../../db/client.ts';
import type { Tables } from '../../db/tables.ts';
import { editRecord, type Editable } from '../../edit-record.ts';
import { breaksRule, isFailure, noSuch, type Failure } from '../../failure.ts';
import { createCoverCheck, wrongEntries } from '../../ip-list.ts';
import { apiKeyAttention } from './api-key-attention.ts';
import { audited, selectApiKeys, toApiKey } from './api-key-row.ts';

type ApiKeyPatch = RouteInput<typeof calls.update>['body'];

/** All keys, or those created by one user or that need a person, newest first, without secrets. */
export async function listApiKeys(
  db: Db,
  now: Date,
  { createdBy, attention }: RouteInput<typeof calls.list>['query'],
): Promise<{ apiKeys: ApiKey[] }> {
  const rows = await selectApiKeys(db)
    .$call((keys) => (createdBy === undefined ? keys : keys.where('k.created_by', '=', createdBy)))
    .$call((keys) => (attention === undefined ? keys : keys.where(apiKeyAttention[attention](now))))
    .orderBy('k.created_at', 'desc')
    .execute();
  return { apiKeys: rows.map(toApiKey) };
}

/** One key, without its secret. */
export async function getApiKey(db: Db, id: string): Promise<ApiKey | Failure> {
  const row = await selectApiKeys(db).where('k.api_key_id', '=', id).executeTakeFirst();
  return row ? toApiKey(row) : notFound;
}

/** Validations with the key in the last 24 hours, and the machines that made them. */
export async function impactOfApiKey(
  db: Db,
  now: Date,
  id: string,
): Promise<RouteAnswer<typeof calls.impact> | Failure> {
  const { rows } = await sql<RouteAnswer<typeof calls.impact>>`
    select count(v.occurred_at) as validations, count(distinct v.machine_id) as machines
      from api_keys k
      left join validations v on v.api_key_id = k.api_key_id and ${isWithin('v.occurred_at', daysFrom(now, -1), now)}
     where k.api_key_id = ${id} group by k.api_key_id`.execute(db);
  return rows[0] ?? notFound;
}

function refuseAddresses(ipWhitelist: string[] = []): Failure | undefined {
  const wrong = wrongEntries(ipWhitelist);
  if (wrong.length === 0) return undefined;
  const isWrong =
    wrong.length === 1
      ? 'is neither an IP address nor a CIDR range'
      : 'are neither IP addresses nor CIDR ranges';
  return breaksRule('ipWhitelist', `${wrong.join(', ')} ${isWrong}`);
}

/** A key cannot have more permissions than the person who grants its scopes. */
function refuseScopes(by: Caller, scopes: readonly ApiKeyScope[]): Failure | undefined {
  if (by.actor.kind === 'system') return undefined;
  const held = staffOf(by)?.permissions ?? [];
  const [refusal] = scopes.flatMap((scope) =>
    lacksForScope(scope, held).map(
      (lacking) => `The scope ${scope} needs ${lacking}, which you lack yourself`,
    ),
  );
  return refusal === undefined ? undefined : breaksRule('scopes', refusal);
}

/** Whether the change gives a key more permissions, a later expiry or more allowed addresses. */
function widens(before: ApiKey, patch: ApiKeyPatch): boolean {
  const { scopes = before.scopes, ipWhitelist } = patch;
  return (
    scopes.some((scope) => !before.scopes.includes(scope)) ||
    (patch.isActive === true && !before.isActive) ||
    (patch.expiresAt !== undefined && before.expiresAt !== null && patch.expiresAt > before.expiresAt) ||
    (patch.rateLimit ?? 0) > before.rateLimit ||
    (ipWhitelist !== undefined && opens(before.ipWhitelist, ipWhitelist))
  );
}

/** An empty whitelist allows every address. */
function opens(before: string[], after: string[]): boolean {
  const isCovered = createCoverCheck(before);
  return before.length > 0 && (after.length === 0 || !after.every(isCovered));
}

const isPast = (expiresAt: string | undefined, now: Date) =>
  expiresAt !== undefined && Date.parse(expiresAt) <= now.getTime();

/** A mistyped date would cut off every program with the key; Inactive and Revoke end one on purpose. */
const refusePast = (expiresAt: string | undefined, now: Date): Failure | undefined =>
  isPast(expiresAt, now) ? breaksRule('expiresAt', 'Must lie in the future') : undefined;

/** The end that a change asks for. A form with minutes sends that of an expired key back without its seconds. */
const newEnd = (
  { expiresAt: end }: ApiKey,
  { expiresAt: sent }: ApiKeyPatch,
  now: Date,
): string | undefined => (isPast(sent, now) && sent?.slice(0, 16) === end?.slice(0, 16) ? undefined : sent);

/** Creates a key, by default with the scope for validations. Only this response contains the full key. */
export async function createApiKey(
  change: Change,
  input: ApiKeyInput,
): Promise<(ApiKey & { key: string }) | Failure> {
  const { tx, by } = change;
  const wrong = refuseAddresses(input.ipWhitelist);
  if (wrong) return wrong;
  const past = refusePast(input.expiresAt, by.now);
  if (past) return past;
  const beyond = refuseScopes(by, input.scopes);
  if (beyond) return beyond;
  const made = newBearerKey('lyd');
  const maker = staffOf(by);
  const id = uuidv7();
  await tx
    .insertInto('api_keys')
    .values({
      api_key_id: id,
      name: input.name,
      key_prefix: made.id,
      secret_hash: made.secretHash,
      scopes: input.scopes,
      expires_at: new Date(input.expiresAt),
      rate_limit: input.rateLimit,
      ip_whitelist: input.ipWhitelist ?? [],
      created_by: maker?.userId ?? null,
      maker_email: maker?.email ?? null,
      created_at: by.now,
      updated_at: by.now,
    })
    .execute();
  const apiKey = await read(tx, id);
  await change.audit('api_key.created', apiKey, { after: audited(apiKey) });
  return { ...apiKey, key: made.text };
}

/**
 * Changes a key that is not revoked; a new state, limit or whitelist applies from its next call. Staff can extend a key
 * only if they hold the permissions of its scopes.
 */
export const updateApiKey = (
  change: Change,
  id: string,
  patch: ApiKeyPatch,
  seen: string | undefined,
): Promise<ApiKey | Failure> =>
  editRecord(change, editable, id, {
    event: 'api_key.updated',
    refuse: (key) => (key.revokedAt ? 'A revoked API key cannot be changed.' : null),
    sent: (before) => ({ ...patch, expiresAt: newEnd(before, patch, change.now) }),
    seen,
    check: (before) =>
      refuseAddresses(patch.ipWhitelist) ??
      refusePast(newEnd(before, patch, change.now), change.now) ??
      (widens(before, patch) ? refuseScopes(change.by, patch.scopes ?? before.scopes) : undefined),
    columns: (before) => {
      const end = newEnd(before, patch, change.now);
      return {
        name: patch.name,
        is_active: patch.isActive,
        expires_at: end === undefined ? undefined : new Date(end),
        rate_limit: patch.rateLimit,
        ip_whitelist: patch.ipWhitelist,
        scopes: patch.scopes,
      };
    },
    what: whatChanged,
  });

/** Mentions a change of the active state first, in the terms of the console. */
function whatChanged(before: ApiKey, after: ApiKey): string {
  const { isActive, ...rest } = audited(after);
  const fields = changedFields(before, rest);
  const switched = isActive ? 'switched on' : 'switched off';
  return before.isActive === isActive ? fields : [switched, fields].filter(Boolean).join('; ');
}

/** Permanently revokes a key; its next call is refused. */
export async function revokeApiKey(change: Change, id: string): Promise<undefined | Failure> {
  const revoked = await editRecord(change, editable, id, {
    event: 'api_key.revoked',
    refuse: (key) => (key.revokedAt ? 'The API key is already revoked.' : null),
    columns: { is_active: false, revoked_at: change.now },
  });
  return isFailure(revoked) ? revoked : undefined;
}

const editable: Editable<ApiKey, Updateable<Tables['api_keys']>> = {
  name: 'API key',
  audited,
  async lock({ tx }, id) {
    await tx.selectFrom('api_keys').select('name').where('api_key_id', '=', id).forUpdate().execute();
    return getApiKey(tx, id);
  },
  async write(change, { id }, columns) {
    await change.tx.updateTable('api_keys').set(columns).where('api_key_id', '=', id).execute();
    await change.announce('apiKeys');
    return read(change.tx, id);
  },
};

const notFound = noSuch('API key');

const read = async (db: Db, id: string): Promise<ApiKey> =>
  toApiKey(await selectApiKeys(db).where('k.api_key_id', '=', id).executeTakeFirstOrThrow());
