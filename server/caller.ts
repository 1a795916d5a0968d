import type { Permission } from '../contract/permissions.ts';
import type { ApiKeyScope } from '../contract/route.ts';
import type { Advice } from '../contract/session.ts';

export type Staff = {
  kind: 'staff';
  userId: string;
  sessionId: string;
  /** What proved the session: the access token, or the cookie that a browser sends by itself. */
  via: 'cookie' | 'bearer';
  email: string;
  name: string;
  roles: string[];
  /** Empty while a second factor or an own password is missing. */
  permissions: Permission[];
  /** A role requires a second factor that this person has not set up. */
  secondFactorMissing: boolean;
  /** The settings require an own password, and somebody else set that of this person. */
  ownPasswordMissing: boolean;
  /** What the person is asked to do after signing in. */
  advice: Advice[];
};

export type ApiKeyHolder = { kind: 'apiKey'; apiKeyId: string; name: string; scopes: ApiKeyScope[] };

export type Actor = Staff | ApiKeyHolder | { kind: 'nobody' } | { kind: 'system' };

/** Tells one actor from another: the user, the API key, or the kind of one that has no identity. */
export function actorId(actor: Actor): string {
  if (actor.kind === 'staff') return actor.userId;
  if (actor.kind === 'apiKey') return actor.apiKeyId;
  return actor.kind;
}

/** Who does something, from where and when: what every rule may ask, and what an audit entry records. */
export type Caller = {
  actor: Actor;
  now: Date;
  ip: string;
  userAgent: string;
  requestId: string;
  /** `PATCH /api/v1/licenses/{id}/revoke`: the route, not the address, so that no id or key stands in it. */
  endpoint: string;
};

/** The person of a call that only staff can make. */
export function personOf({ actor }: Caller): Staff {
  if (actor.kind === 'staff') return actor;
  throw new Error('Only staff have an account');
}

/** The caller of what Lanyard does by itself: first start, clean-up, demo data. */
export function systemCaller(now: Date): Caller {
  return { actor: { kind: 'system' }, now, ip: '', userAgent: '', requestId: '', endpoint: '' };
}
