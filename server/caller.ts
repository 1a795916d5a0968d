import {
  hasPermission,
  permit,
  type Action,
  type Permission,
  type Resource,
} from '../contract/permissions.ts';
import type { ApiKeyScope, MachineScope } from '../contract/route.ts';
import type { Screen } from '../contract/screens.ts';
import type { Advice } from '../contract/session.ts';

export type Staff = {
  kind: 'staff';
  userId: string;
  sessionId: string;
  /** How the session was authenticated: by access token, or by the cookie that browsers attach automatically. */
  via: 'cookie' | 'bearer';
  email: string;
  name: string;
  roles: string[];
  /** Empty while a required second factor or own password is missing. */
  permissions: Permission[];
  /** A role requires a second factor that this user has not set up. */
  secondFactorMissing: boolean;
  /** The settings require an own password, but another person set the current one. */
  ownPasswordMissing: boolean;
  /** What the user is asked to do after signing in. */
  advice: Advice[];
  /** The screen that the user chose for `/`. */
  firstScreen: Screen | null;
};

export type ApiKeyHolder = { kind: 'apiKey'; apiKeyId: string; name: string; scopes: ApiKeyScope[] };

/** A machine that authenticates with the token of its enrollment: it acts only for itself, on its own license. */
export type EnrolledMachine = {
  kind: 'machine';
  activationId: string;
  licenseId: string;
  licenseKey: string;
  customerId: string;
  /** Its license and customer are active. */
  isLicensed: boolean;
  machineId: string;
  /** Names the record of the machine, in hex; not always the hash of its id. */
  machineHash: string;
  scopes: MachineScope[];
};

export type Actor = Staff | ApiKeyHolder | EnrolledMachine | { kind: 'nobody' } | { kind: 'system' };

/** An unauthenticated caller. */
export const nobody = { kind: 'nobody' } as const satisfies Actor;

/** Identifies an actor: the id of the user, API key or activation, or the kind of an actor without an identity. */
export function actorId(actor: Actor): string {
  if (actor.kind === 'staff') return actor.userId;
  if (actor.kind === 'apiKey') return actor.apiKeyId;
  if (actor.kind === 'machine') return actor.activationId;
  return actor.kind;
}

/** Who makes a call, from where and when: the input of access rules and audit entries. */
export type Caller = {
  actor: Actor;
  now: Date;
  ip: string;
  userAgent: string;
  requestId: string;
  /** For example `PATCH /api/v1/licenses/{id}/revoke`: the route, not the URL, so that it contains no id or key. */
  endpoint: string;
  /** Set only where the second person carries out an approved change request. */
  consent?: Consent;
};

/** That two people agreed to one change of one subject. */
export type Consent = {
  /** The email of the user who asked; the caller approved. */
  requestedBy: string;
  /** The id of the release, or the name of the channel. */
  subjectId: string;
};

/** The staff member of a call; undefined where another actor makes it. */
export const staffOf = ({ actor }: Caller): Staff | undefined => (actor.kind === 'staff' ? actor : undefined);

/** The staff member of a call that only staff can make. */
export function personOf({ actor }: Caller): Staff {
  if (actor.kind === 'staff') return actor;
  throw new Error('Only staff have an account');
}

/** Whether the caller is staff with the permission: for the parts of an answer that need one of their own. */
export const may = ({ actor }: Caller, resource: Resource, action: Action): boolean =>
  actor.kind === 'staff' && hasPermission(actor.permissions, permit(resource, action));

/** Whether the caller is staff who may read the resource. */
export const mayRead = (by: Caller, resource: Resource): boolean => may(by, resource, 'read');

/** The caller of Lanyard's own work: first start, cleanup, demo data. */
export function systemCaller(now: Date): Caller {
  return { actor: { kind: 'system' }, now, ip: '', userAgent: '', requestId: '', endpoint: '' };
}
