import { hasPermission } from '../contract/permissions.ts';
import type { Actor } from './caller.ts';
import type { Context } from './context.ts';
import type { Tx } from './db/client.ts';
import { permissionsOfUser, secondFactorMissing } from './db/sql.ts';
import { fail, type Failure } from './failure.ts';

export const signInAgain = fail('UNAUTHENTICATED', 'The session has ended. Sign in again.');
const keyEnded = fail(
  'UNAUTHENTICATED',
  'The API key was revoked or switched off, or has expired, meanwhile.',
);
/** In place of a lack of permissions: whoever had one a moment ago must not look for it. */
export const secondFactorFirst = fail(
  'FORBIDDEN',
  'Your role requires a second factor. Set one up on your account page first.',
);
const permissionLost = fail('FORBIDDEN', 'The caller lost a permission while this call was under way.');

/**
 * For calls that take long before their change: UNAUTHENTICATED if the session or the API key of the caller ended since
 * the call began; else it does not end before the commit. FORBIDDEN if the caller lost a permission or a scope meanwhile.
 * Not by the idle time of a session: whoever sends or reads a file is not idle.
 */
export async function refuseEnded(
  tx: Tx,
  actor: Actor,
  { clock, config }: Pick<Context, 'clock' | 'config'>,
): Promise<Failure | undefined> {
  if (actor.kind === 'staff') {
    const open = await tx
      .selectFrom('sessions as s')
      .innerJoin('users as u', 'u.user_id', 's.user_id')
      .select([permissionsOfUser, secondFactorMissing])
      .where('s.session_id', '=', actor.sessionId)
      .where('s.ended_at', 'is', null)
      .where('s.created_at', '>', new Date(clock().getTime() - config.sessionMaxMs))
      .forShare('s')
      .executeTakeFirst();
    if (!open) return signInAgain;
    // whoever is held back until there is one has no permission to lose
    if (open.second_factor_missing && !actor.secondFactorMissing) return secondFactorFirst;
    const isSame = actor.permissions.every((p) => hasPermission(open.permissions, p));
    return isSame ? undefined : permissionLost;
  }
  if (actor.kind !== 'apiKey') return undefined;
  const active = await tx
    .selectFrom('api_keys')
    .select('scopes')
    .where('api_key_id', '=', actor.apiKeyId)
    .where('is_active', '=', true)
    .where('revoked_at', 'is', null)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', clock())]))
    .forShare()
    .executeTakeFirst();
  if (!active) return keyEnded;
  return actor.scopes.every((scope) => active.scopes.includes(scope)) ? undefined : permissionLost;
}
