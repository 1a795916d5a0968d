import type { Access, ApiKeyScope } from '../../contract/route.ts';
import { lackedOf } from '../../contract/permissions.ts';
import type { Actor } from '../caller.ts';
import { secondFactorFirst } from '../ended-caller.ts';
import { fail, type Failure } from '../failure.ts';

/** Why this actor may not make a call with that access; undefined when they may. */
export function authorize(access: Access, actor: Actor): Failure | undefined {
  if (access.kind === 'public') return undefined;
  if (actor.kind === 'nobody') return fail('UNAUTHENTICATED', asksFor(access));
  if (actor.kind === 'apiKey' || actor.kind === 'machine') {
    const who = actor.kind === 'apiKey' ? 'API key' : 'machine token';
    if (access.kind !== 'staff' || !access.apiKey)
      return fail('FORBIDDEN', `No ${who} may make this call: it is for staff who are signed in.`);
    const scopes: readonly ApiKeyScope[] = actor.scopes;
    if (scopes.includes(access.apiKey)) return undefined;
    return fail('FORBIDDEN', `This ${who} lacks the scope ${access.apiKey}.`);
  }
  if (actor.kind !== 'staff' || access.kind === 'signedIn') return undefined;
  const [lacking] = lackedOf(actor.permissions, access.needs);
  if (!lacking) return undefined;
  if (actor.ownPasswordMissing)
    return fail('FORBIDDEN', 'Somebody else set your password. Change it on your account page first.');
  if (actor.secondFactorMissing) return secondFactorFirst;
  return fail('FORBIDDEN', `You lack the permission ${lacking}.`);
}

/** What a call without credentials lacks. */
function asksFor(access: Access): string {
  if (access.kind !== 'staff' || !access.apiKey) return 'Sign in first.';
  const token = access.apiKey === 'releases' ? '' : ' or a machine token (X-Machine-Token)';
  return `Send an API key (X-API-Key)${token}, or sign in.`;
}
