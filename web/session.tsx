import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { createContext, use, useEffect, useMemo, useState, type ReactNode } from 'react';
import { flushSync } from 'react-dom';
import type { Screen } from '../contract/screens.ts';
import { session as calls, type Advice } from '../contract/session.ts';
import { ApiError, fieldErrors, messageOf, sentenceOf } from './api-error.ts';
import { call, userNow, withLock } from './api.ts';
import { permissionChecks } from './permission-checks.ts';
import { retryDelay } from './query-client.ts';
import { leaveForms } from './ui/open-forms.ts';
import { useStore } from './ui/store.ts';
import { rolePreview, setRolePreview, type RolePreview } from './role-preview.ts';
import {
  clearSession,
  getSession,
  rereadSession,
  sessionStore,
  setSession,
  type StoredSession,
} from './session-store.ts';

export type Auth = ReturnType<typeof permissionChecks> & {
  user: StoredSession['user'] | null;
  isAuthenticated: boolean;
  /** True until the stored session has been restored and its permissions refreshed, and while it is being ended. */
  loading: boolean;
  /** `code`: of the second factor, where the user has one. */
  login: (email: string, password: string, code?: string) => Promise<void>;
  /** Asks about unsaved changes first. */
  logout: () => void;
  /** Fetches the permissions of the user again, in all tabs. */
  refreshRights: () => Promise<void>;
  /** No call is permitted until the user has set up a second factor. */
  secondFactorMissing: boolean;
  /** No call is permitted until the user has replaced a password that was set by someone else. */
  ownPasswordMissing: boolean;
  /** Security advice for the user's account. */
  advice: readonly Advice[];
  /** The screen that the user chose for `/`. */
  firstScreen: Screen | null;
  /** The role whose view of the console is previewed, instead of the user's own. */
  preview: RolePreview | null;
};

/** Screens use `useAuth`. */
export const AuthContext = createContext<Auth | null>(null);

/** The user, and their permissions. */
export function useAuth(): Auth {
  const auth = use(AuthContext);
  if (!auth) throw new Error('useAuth must be used within an AuthProvider');
  return auth;
}

/** Provides the session of this browser: restored at start, shared by its tabs (spec part 1, section 4). */
export function AuthProvider({ children }: { children: ReactNode }) {
  const session = useStore(sessionStore);
  const preview = useStore(rolePreview);
  const [loading, setLoading] = useState(() => getSession() !== null);
  const queryClient = useQueryClient();
  useForgetDataWithSession(queryClient);
  useRefreshRightsOnRefusal(queryClient);

  useEffect(() => {
    const onTold = () => getSession() && void refreshRights();
    // what another tab heard of by itself, as when it was opened
    const onStored = ({ key }: StorageEvent) => key === 'permissions' && onTold();
    otherTabs.addEventListener('message', onTold);
    window.addEventListener('storage', onStored);
    return () => {
      otherTabs.removeEventListener('message', onTold);
      window.removeEventListener('storage', onStored);
    };
  }, []);
  useEffect(() => {
    if (!getSession()) return;
    const restored = () => {
      clearTimeout(timer);
      setLoading(false);
    };
    // the call may wait for another to renew the session, longer than its own timeout
    const timer = setTimeout(restored, timeoutMs);
    void refreshRights().finally(restored);
  }, []);

  const auth = useMemo(
    () => ({
      user: session?.user ?? null,
      isAuthenticated: session !== null,
      loading,
      login,
      logout: () => {
        const leave = async () => {
          // Screens make no calls with a session that is about to end: they would be refused.
          flushSync(() => setLoading(true));
          await queryClient.cancelQueries();
          await endSession();
          setLoading(false);
        };
        leaveForms(() => void leave());
      },
      refreshRights: refreshAllTabs,
      secondFactorMissing: session?.secondFactorMissing === true,
      ownPasswordMissing: session?.ownPasswordMissing === true,
      advice: session?.advice ?? [],
      firstScreen: session?.firstScreen ?? null,
      preview,
      ...permissionChecks(rightsOf(session, preview)),
    }),
    [session, loading, preview, queryClient],
  );
  return <AuthContext value={auth}>{children}</AuthContext>;
}

function rightsOf(session: StoredSession | null, preview: RolePreview | null) {
  if (!session) return { permissions: [], roles: [] };
  return preview ? { permissions: [...preview.permissions], roles: [{ name: preview.role }] } : session;
}

/** Cached data of one user must not be shown to the next, nor in the preview of a role. */
function useForgetDataWithSession(queryClient: QueryClient): void {
  useEffect(() => {
    let userId = getSession()?.user.userId;
    return sessionStore.subscribe(() => {
      const before = userId;
      userId = getSession()?.user.userId;
      // another tab may sign somebody else in before this one sees that the session ended
      if (before === undefined || before === userId) return;
      setRolePreview(null);
      queryClient.clear();
    });
  }, [queryClient]);
  useEffect(() => rolePreview.subscribe(() => void queryClient.resetQueries()), [queryClient]);
}

/**
 * A user who lost a permission is shown only what is left, once the service refuses what a screen reads. A refused change
 * leaves its form as it is, with what was typed.
 */
function useRefreshRightsOnRefusal(queryClient: QueryClient): void {
  useEffect(() => {
    let refreshing = false;
    return queryClient.getQueryCache().subscribe(({ type, query: { state } }) => {
      const { error, status } = state;
      if (type !== 'updated' || status !== 'error' || refreshing) return;
      if (!(error instanceof ApiError) || error.code !== 'FORBIDDEN') return;
      refreshing = true;
      void refreshRights().finally(() => (refreshing = false));
    });
  }, [queryClient]);
}

/** A server that does not respond must not keep the user behind the spinner. */
const timeoutMs = 5000;

/** A sign-in that hangs must not hold up those of other tabs. */
const signInMs = 30_000;

/** Signs in, or throws an error whose message is for the user. */
async function login(email: string, password: string, code?: string): Promise<void> {
  try {
    // stored under the lock: a late sign-out would find nobody signed in, and end this session
    await withLock(async () => {
      const body = { email, password, ...(code && { code }) };
      const answer = await call(calls.login, { body }, { signal: AbortSignal.timeout(signInMs) });
      // A response without a token is not a sign-in, whatever its status.
      if (!answer.accessToken) throw new ApiError(200, 'Login failed', answer as object);
      setSession(answer);
    });
  } catch (error) {
    console.warn('Login failed:', messageOf(error));
    // the code is the one input that the form shows then
    const said = fieldErrors(error)['code'] ?? sentenceOf(error, 'Login failed');
    throw new Error(said, { cause: error });
  }
}

/** Ends the session here even if the call fails. */
async function endSession(): Promise<void> {
  try {
    await tellLogout();
  } catch (error) {
    console.warn('Logout failed:', messageOf(error));
    void tellLogoutLater();
  }
  clearSession({ asked: true });
}

const tellLogout = () => call(calls.logout, undefined, { signal: AbortSignal.timeout(timeoutMs) });

/** Until then the cookie opens the session to whoever uses this browser next. A sign-in ends that session too. */
async function tellLogoutLater(failures = 0): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, retryDelay(failures)));
  const isOpen = await withLock(async () => {
    if (rereadSession()) return false;
    return tellLogout().then(
      () => false,
      () => true,
    );
  });
  if (isOpen) await tellLogoutLater(failures + 1);
}

/** What they show of a second factor, a password and a first screen is not in the storage that they share. */
const otherTabs = new BroadcastChannel('rights');
const refreshAllTabs = () => refreshRights().finally(() => otherTabs.postMessage(null));

async function refreshRights(): Promise<void> {
  try {
    const by = userNow();
    const me = await call(calls.me, undefined, { signal: AbortSignal.timeout(timeoutMs) });
    const session = getSession();
    // another tab may have signed somebody else in meanwhile
    if (session && userNow() === by) setSession({ ...session, ...me });
  } catch (error) {
    console.warn('Permissions could not be refreshed:', messageOf(error));
  }
}
