import type { Permission } from '../contract/permissions.ts';
import type { Screen } from '../contract/screens.ts';
import type { Advice, SessionUser } from '../contract/session.ts';
import { isPermission, isRole, validEntries, userOf } from './session-shape.ts';
import { createStore, type Store } from './ui/store.ts';
import { parsedJson } from '../contract/text.ts';

/** What the console stores of a session in local storage, under these four names (spec part 1, sections 3, 9). */
export type StoredSession = {
  user: SessionUser;
  accessToken: string;
  permissions: Permission[];
  roles: { name: string }[];
  // In memory only: the server sends it at every start.
  /** A role requires a second factor that the user has not set up. */
  secondFactorMissing?: boolean;
  /** The server requires the user to choose a new password. */
  ownPasswordMissing?: boolean;
  /** What the user is advised to do, and may postpone. */
  advice?: Advice[];
  /** The screen that the user chose for `/`. */
  firstScreen?: Screen | null;
};

const keys = ['user', 'accessToken', 'permissions', 'roles'] as const;
const store = createStore(read());
let lapsed = false;

/** The session of this browser, or null; it also changes when another tab changes it. */
export const sessionStore: Store<StoredSession | null> = store;
export const getSession = store.get;

export function setSession(session: StoredSession): void {
  const rights = {
    permissions: validEntries(session.permissions, isPermission),
    roles: validEntries(session.roles, isRole),
  };
  localStorage.setItem('user', JSON.stringify(session.user));
  localStorage.setItem('accessToken', session.accessToken);
  localStorage.setItem('permissions', JSON.stringify(rights.permissions));
  localStorage.setItem('roles', JSON.stringify(rights.roles));
  changed({ ...session, ...rights });
}

/** `asked`: the user requested it. */
export function clearSession({ asked = false } = {}): void {
  for (const key of keys) localStorage.removeItem(key);
  changed(null, asked);
}

/** True after a session ended that the user did not end in this tab, until someone signs in. */
export const hasSessionLapsed = (): boolean => lapsed;

/** Reads storage again, to see what another tab has written since. */
export function rereadSession(): StoredSession | null {
  const stored = read();
  const before = store.get();
  changed(stored && stored.user.userId === before?.user.userId ? { ...before, ...stored } : stored);
  return store.get();
}

function changed(session: StoredSession | null, asked = false): void {
  lapsed = session === null && !asked && (lapsed || store.get() !== null);
  store.set(session);
}

function read(): StoredSession | null {
  const user = localStorage.getItem('user');
  const accessToken = localStorage.getItem('accessToken');
  if (user === null) return null;
  const parsed = userOf(parsedJson(user));
  if (!parsed) {
    for (const key of keys) localStorage.removeItem(key);
    return null;
  }
  if (!accessToken) return null;
  return {
    user: parsed,
    accessToken,
    permissions: validEntries(inStorage('permissions'), isPermission),
    roles: validEntries(inStorage('roles'), isRole),
  };
}

function inStorage(key: 'permissions' | 'roles'): unknown {
  return parsedJson(localStorage.getItem(key) ?? '[]');
}

window.addEventListener('storage', (event) => {
  if (event.key === null || (keys as readonly string[]).includes(event.key)) rereadSession();
});
