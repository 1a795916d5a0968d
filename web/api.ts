import type { z } from 'zod';
import { addressOf, callName } from '../contract/address.ts';
import type { ConsoleRoute, Route, RouteAnswer, RouteRequest } from '../contract/route.ts';
import { session as calls } from '../contract/session.ts';
import { ApiError, errorOf, signInAgain } from './api-error.ts';
import { idempotencyKey } from './idempotency.ts';
import { isChange } from './is-change.ts';
import { retryDelay } from './query-client.ts';
import { topForm } from './ui/open-forms.ts';
import { createStore } from './ui/store.ts';
import { dataOf, listOf } from './read-answer.ts';
import { lackedBy } from './permission-checks.ts';
import { refusedByPreview } from './role-preview.ts';
import { clearSession, getSession, rereadSession, setSession } from './session-store.ts';

type Data<R extends Route> = R['answer'] extends z.ZodType ? RouteAnswer<R> : null;
/** `form`: in whose name a change is sent, where another one may be open by then. */
type Options = { signal?: AbortSignal | undefined; form?: object | undefined };
type NothingNeeded = Record<string, never>;
/** What a call takes: its request, and options; the request may be left out where all of its parts may be. */
export type Arguments<R extends Route> =
  NothingNeeded extends RouteRequest<R>
    ? [request?: RouteRequest<R>, options?: Options]
    : [request: RouteRequest<R>, options?: Options];
type Parts = {
  params?: Record<string, string>;
  query?: Record<string, string | number | boolean | null | undefined>;
  body?: unknown;
};

/**
 * Makes a call. Returns the `data` property, else the whole body, null when it is empty; for a list `{ data, meta }`.
 */
export async function call<R extends Route>(route: R, ...[request, options]: Arguments<R>): Promise<Data<R>> {
  const { meta, shownOnce }: ConsoleRoute = route;
  const sent = send(route, request ?? {}, options ?? {});
  const body = await (isOfUser(route) ? untilLeft(sent) : sent);
  const data = (meta ? listOf(body) : dataOf(body)) as Data<R>;
  if (isChange(route) && !shownOnce) for (const tell of onChanged) tell(data);
  return data;
}

/** Are told what each change returned, unless it shows a secret. */
export const onChanged = new Set<(data: unknown) => void>();

const isOfUser = (route: ConsoleRoute) =>
  isChange(route) && route.access.kind !== 'public' && route !== calls.logout;

/**
 * A change or an export whose user has left does not end: the next one would read what they did not do, undo it, or be
 * asked about it, and what follows it, such as the rest of many, would be sent in their name.
 */
export async function untilLeft<Made>(answer: Promise<Made>): Promise<Made> {
  const by = userNow();
  const hasLeft = () => by !== undefined && by !== userNow();
  try {
    return await answer;
  } finally {
    if (hasLeft()) await new Promise(() => undefined);
  }
}

/** The pause before a change is sent again. It does not end when its user has left either. */
export const retryPause = (failures: number): Promise<unknown> =>
  untilLeft(new Promise((resolve) => setTimeout(resolve, retryDelay(failures))));

export const userNow = () => getSession()?.user.userId;

/** The URL of a call, for a link such as a CSV export. */
export function urlOf<R extends Route>(route: R, ...[request]: Arguments<R>): string {
  return addressOf(route, request ?? {});
}

/** How often an answer was that of an attempt whose answer was lost: a colleague may have undone it by now. */
export const replays = createStore(0);

type Answer = { status: number; text: string; keepsSession: boolean; isReplayed: boolean };

async function send(route: ConsoleRoute, request: Parts, { signal, form }: Options): Promise<unknown> {
  refuseUnpermitted(route);
  const url = addressOf(route, request);
  // of every call, also without a body (spec part 1, section 7)
  const json = 'application/json';
  const headers: Record<string, string> = { Accept: json, 'Content-Type': json };
  const init: RequestInit = { method: route.method, credentials: 'include' };
  if (request.body !== undefined) init.body = JSON.stringify(request.body);
  if (signal) init.signal = signal;
  const sentAs = JSON.stringify([route.method, url, init.body]);
  const once = isChange(route) ? idempotencyKey(sentAs, form) : undefined;
  if (once) headers['Idempotency-Key'] = once.key;
  const sent = route.access.kind === 'public' ? undefined : once?.onSent;
  const { status, text, isReplayed } =
    route.access.kind === 'public'
      ? await fetchOnce(url, { ...init, headers })
      : await withSession((token) => fetchOnce(url, { ...init, headers: withToken(headers, token) }, sent));
  if (status < 200 || status > 299)
    throw refusedCall(route, request, asUnanswered(errorOf(status, text), sent));
  const answer = parsed(status, text, sent);
  once?.onSent(true);
  if (isReplayed) replays.set(replays.get() + 1);
  return answer;
}

function refusedCall(route: ConsoleRoute, { params = {}, body }: Parts, error: ApiError): ApiError {
  error.made = { call: callName(route), params, body };
  return error;
}

/** Who answers with these, or with a page of its own as a wireless network does, knows nothing of what the service did. */
const ofProxy: ReadonlySet<number> = new Set([200, 201, 502, 503, 504]);

/** `sent`: of a change that may have been made. */
function asUnanswered(error: ApiError, sent: (() => void) | undefined): ApiError {
  if (!sent || error.code || !ofProxy.has(error.status)) return error;
  error.message += `\n${unanswered()}`;
  error.isUnanswered = true;
  sent();
  return error;
}

function parsed(status: number, text: string, sent: (() => void) | undefined): unknown {
  if (text === '') return null;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw asUnanswered(new ApiError(status, 'The server returned an unreadable response.'), sent);
  }
}

/**
 * Throws before a call that the previewed role may not make, or that the user may not read, so that no screen makes a call
 * that its user lacks the permission for. Changes are else always sent: the server decides on them.
 */
export function refuseUnpermitted(route: ConsoleRoute): void {
  const session = getSession();
  const lacking = session && !isChange(route) && lackedBy(session.permissions, route.access);
  const refusal = refusedByPreview(route) ?? (lacking && `You lack the permission ${lacking}.`);
  if (refusal) throw new ApiError(403, refusal, { error: refusal });
}

/** Tabs that renew at once without a lock (see `withLock`) replace each other's tokens, but not as often as this. */
const mostRenewals = 4;

/**
 * Makes a call with the session's token: retries with a renewed token on a 401, and ends the session when that is refused
 * as well.
 */
export async function withSession<T extends { status: number; keepsSession?: boolean }>(
  attempt: (token: string | undefined) => Promise<T>,
): Promise<T> {
  const by = userNow();
  // who signed in meanwhile neither makes the call of the user before, nor is signed out by it
  const isSameUser = () => userNow() === by;
  let token = getSession()?.accessToken;
  let answer = await attempt(token);
  for (let renewals = 0; isSessionOver(answer) && token && renewals < mostRenewals; renewals++) {
    if (renewals > 0) await othersFirst();
    if (!(await renewSession(token)) || !isSameUser()) break;
    token = getSession()?.accessToken;
    answer = await attempt(token);
  }
  if (!isSessionOver(answer)) return answer;
  // the shell shows /login with the current path in `redirect`
  if (isSameUser()) clearSession();
  throw new ApiError(401, signInAgain);
}

/** Lets the other tabs store the token that counts, and none renew at the same time again. */
const othersFirst = () => new Promise((resolve) => setTimeout(resolve, 100 + 400 * Math.random()));

const isSessionOver = (answer: { status: number; keepsSession?: boolean }) =>
  answer.status === 401 && !answer.keepsSession;

const withToken = (headers: Record<string, string>, token: string | undefined) =>
  token ? { ...headers, Authorization: `Bearer ${token}` } : headers;

async function fetchOnce(url: string, init: RequestInit, sent?: () => void): Promise<Answer> {
  try {
    const response = await fetch(url, init);
    const text = await response.text();
    const isReplayed = response.headers.get('idempotent-replayed') === 'true';
    return { status: response.status, text, keepsSession: isAboutPassword(text), isReplayed };
  } catch (error) {
    if (error instanceof DOMException && error.name !== 'TimeoutError') throw error;
    const unreachable = new ApiError(0, `The server cannot be reached. ${sent ? unanswered() : tryAgain}`);
    unreachable.isUnanswered = sent !== undefined;
    sent?.();
    throw unreachable;
  }
}

/**
 * Throws if the server does not answer, or a proxy does instead: loading the page again would replace the console by a page
 * of the browser or of the proxy.
 */
export const requireServer = async () => {
  const { status } = await fetchOnce('/healthz', {});
  if (status > 500) throw new ApiError(status, `The server cannot be reached. ${tryAgain}`);
};

const tryAgain = 'Check the connection and try again.';

/** What was sent may have been carried out. A form keeps the key of the request, so that it is not done twice. */
const unanswered = () =>
  topForm()
    ? 'Your change may have been applied. Send it again unchanged: it is applied only once.'
    : 'Your change may have been applied. Check before you try again.';

/** A wrong current password is a 401 as well, but does not mean that the session is invalid. */
const isAboutPassword = (text: string) => text.includes('"code":"WRONG_CREDENTIALS"');

/** All calls of all tabs wait for it. */
const renewalMs = 10_000;

let renewal: Promise<boolean> | undefined;

/**
 * Rotates the session once, no matter how many calls in how many tabs found `staleToken` refused; false when the
 * session has ended. Using a rotated token a second time would end the session on the server.
 */
function renewSession(staleToken: string): Promise<boolean> {
  renewal ??= withLock(() => renew(staleToken)).finally(() => (renewal = undefined));
  return renewal;
}

async function renew(staleToken: string): Promise<boolean> {
  const stored = rereadSession();
  if (!stored) return false;
  if (stored.accessToken !== staleToken) return true;
  try {
    // a lost answer is no loss: the server gives the same cookie again
    const renewed = await call(calls.refresh, undefined, { signal: AbortSignal.timeout(renewalMs) });
    // the user may have signed out meanwhile, and another signed in
    const now = rereadSession();
    // without the lock, another tab may have renewed it meanwhile: of the two tokens, that of the last answer works
    const isSameUser = now?.user.userId === renewed.user.userId;
    if (now?.accessToken === staleToken || (isSameUser && !hasLocks())) setSession(renewed);
    return getSession() !== null;
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) throw error;
    // what the user has signed in to meanwhile was not refused
    return (rereadSession()?.accessToken ?? staleToken) !== staleToken;
  }
}

/** Web Locks exist only on https and localhost; elsewhere the tabs rely on the server's short grace period. */
const hasLocks = () => 'locks' in navigator;

/** One at a time in all tabs: what renews, begins or later ends the session of the cookie, which they share. */
export const withLock = <T>(job: () => Promise<T>): Promise<T> =>
  hasLocks() ? navigator.locks.request('lanyard-session', job) : job();
