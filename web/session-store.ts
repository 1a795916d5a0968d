import type { Permission } from '../contract/permissions.ts';
import type { Advice, SessionUser } from '../contract/session.ts';
import { isPermission, isRole, listOf, userOf } from './session-shape.ts';

/** What the console keeps of a session in local storage, under these four names (spec part 1, sections 3, 9). */
export type StoredSession = {
  user: SessionUser;
  accessToken: string;
  permissions: Permission[];
  roles: { name: string }[];
  // In memory only: the server says it at every start.
  /** A role requires a second factor that the person lacks. */
  secondFactorMissing?: boolean;
  /** The server requires a password that the person chose. */
  ownPasswordMissing?: boolean;
  /** What the person is asked to do, and may put off. */
  advice?: Advice[];
};

const keys = ['user', 'accessToken', 'permissions', 'roles'] as const;
const listeners = new Set<() => void>();
let current = read();
let lapsed = false;

/** The session of this browser, or null. The same object until it changes. */
export const getSession = (): StoredSession | null => current;

export function setSession(session: StoredSession): void {
  const rights = {
    permissions: listOf(session.permissions, isPermission),
    roles: listOf(session.roles, isRole),
  };
  localStorage.setItem('user', JSON.stringify(session.user));
  localStorage.setItem('accessToken', session.accessToken);
  localStorage.setItem('permissions', JSON.stringify(rights.permissions));
  localStorage.setItem('roles', JSON.stringify(rights.roles));
  changed({ ...session, ...rights });
}

/** `asked`: the person wanted it to end. */
export function clearSession({ asked = false } = {}): void {
  for (const key of keys) localStorage.removeItem(key);
  changed(null, asked);
}

/** True from when a session ended that the person did not end in this tab, until someone signs in. */
export const hasSessionLapsed = (): boolean => lapsed;

/** Calls `listener` after every change, also one that another tab made; gives back how to stop it. */
export function onSessionChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Reads storage again: what another tab has written since is not yet in memory. */
export function rereadSession(): StoredSession | null {
  const stored = read();
  changed(stored && stored.user.userId === current?.user.userId ? { ...current, ...stored } : stored);
  return current;
}

function changed(session: StoredSession | null, asked = false): void {
  lapsed = session === null && !asked && (lapsed || current !== null);
  current = session;
  for (const listener of listeners) listener();
}

function read(): StoredSession | null {
  const user = localStorage.getItem('user');
  const accessToken = localStorage.getItem('accessToken');
  if (user === null) return null;
  const parsed = userOf(parse(user));
  if (!parsed) {
    for (const key of keys) localStorage.removeItem(key);
    return null;
  }
  if (!accessToken) return null;
  return {
    user: parsed,
    accessToken,
    permissions: listOf(inStorage('permissions'), isPermission),
    roles: listOf(inStorage('roles'), isRole),
  };
}

function inStorage(key: 'permissions' | 'roles'): unknown {
  return parse(localStorage.getItem(key) ?? '[]');
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

window.addEventListener('storage', (event) => {
  if (event.key === null || (keys as readonly string[]).includes(event.key)) rereadSession();
});
