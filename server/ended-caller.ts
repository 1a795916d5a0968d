import type { Actor } from './caller.ts';
import type { Tx } from './db/client.ts';
import { fail, type Failure } from './failure.ts';

export const signInAgain = fail('UNAUTHENTICATED', 'The session has ended. Sign in again.');
const keyEnded = fail('UNAUTHENTICATED', 'The API key was revoked or switched off meanwhile.');

/**
 * For calls that take long before their change: UNAUTHENTICATED if the session or the API key of the caller ended since
 * the call began; else it does not end before the commit.
 */
export async function refuseEnded(tx: Tx, actor: Actor): Promise<Failure | undefined> {
  if (actor.kind === 'staff') {
    const open = await tx
      .selectFrom('sessions')
      .select('session_id')
      .where('session_id', '=', actor.sessionId)
      .where('ended_at', 'is', null)
      .forShare()
      .executeTakeFirst();
    return open ? undefined : signInAgain;
  }
  if (actor.kind !== 'apiKey') return undefined;
  const active = await tx
    .selectFrom('api_keys')
    .select('api_key_id')
    .where('api_key_id', '=', actor.apiKeyId)
    .where('is_active', '=', true)
    .where('revoked_at', 'is', null)
    .forShare()
    .executeTakeFirst();
  return active ? undefined : keyEnded;
}
