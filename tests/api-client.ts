import { addressOf, callName } from '../contract/address.ts';
import type { ErrorCode, ErrorDetail } from '../contract/errors.ts';
import type { Route, RouteRequest } from '../contract/route.ts';
import { session as sessionCalls } from '../contract/session.ts';
import { eventually } from './time.ts';

/** The password of everyone who is made by `signInAs` and `createPerson`. */
export const password = 'correct horse battery staple';

/** Whoever calls: what they send along with every call. */
export type Identity = { headers: Record<string, string> };

type Schemas<R extends Route> = { answer: R['answer']; meta: R['meta'] };
type Out<S> = S extends { _zod: { output: infer O } } ? O : undefined;

/** What a call answered. `data` and `meta` are there after a success, the rest of the body after a failure. */
export type Answer<R extends Route> = {
  status: number;
  headers: Headers;
  text: string;
  body: {
    success: boolean;
    data: Out<Schemas<R>['answer']>;
    meta: Out<Schemas<R>['meta']>;
    error: string;
    code: ErrorCode;
    details: ErrorDetail[];
    requestId: string;
  };
};

type Rest<R extends Route, More extends unknown[]> =
  object extends RouteRequest<R> ? [request?: RouteRequest<R>, ...More] : [request: RouteRequest<R>, ...More];
type Extra = [headers?: Record<string, string>];

export type Api = {
  /** Makes a call of the contract and answers whatever came back. */
  call<R extends Route>(route: R, ...rest: Rest<R, Extra>): Promise<Answer<R>>;
  /** Makes a call that must succeed, and answers its data. */
  ok<R extends Route>(route: R, ...rest: Rest<R, Extra>): Promise<Out<Schemas<R>['answer']>>;
};

/** A client of the service at `url`. It sends no empty query parameter: for one, fetch the address. */
export function apiAt(url: string, who: Identity = { headers: {} }): Api {
  async function call<R extends Route>(route: R, ...rest: Rest<R, Extra>): Promise<Answer<R>> {
    const [request = {}, headers = {}] = rest as [
      (Parameters<typeof addressOf>[1] & { body?: unknown })?,
      Extra[0]?,
    ];
    const failed = ({ message, cause }: Error) => {
      throw new Error(`${callName(route)} got no whole answer: ${message}`, { cause });
    };
    const response = await fetch(url + addressOf(route, request), {
      method: route.method,
      headers: {
        ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...who.headers,
        ...headers,
      },
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
    }).catch(failed);
    const text = await response.text().catch(failed);
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    const body = (isJson ? JSON.parse(text) : {}) as Answer<R>['body'];
    return { status: response.status, headers: response.headers, text, body };
  }
  return apiOf(call);
}

const apiOf = (call: Api['call']): Api => ({
  call,
  async ok(route, ...rest) {
    const answer = await call(route, ...rest);
    if (answer.status >= 300) throw new Error(`${callName(route)}: ${answer.status} ${answer.text}`);
    return answer.body.data;
  },
});

/**
 * A client that makes each call again while it gets 503, for what a test says nothing about: a server with the limits of
 * service refuses calls where the machine stood still for half a second. A creation whose answer was lost is made twice.
 */
export const patiently = (api: Api): Api =>
  apiOf((route, ...rest) =>
    eventually(async () => {
      const answer = await api.call(route, ...rest);
      if (answer.status === 503) throw new Error(`${callName(route)}: 503 ${answer.text}`);
      return answer;
    }),
  );

/** Signs in, and gives the session cookie to send: a bearer token ends after 15 minutes, within a slow run. */
export async function signedInAt(url: string, body: { email: string; password: string }): Promise<Identity> {
  const { status, text, headers } = await apiAt(url).call(sessionCalls.login, { body });
  const cookie = cookieOf(headers);
  if (status !== 200 || !cookie) throw new Error(`${body.email} could not sign in: ${text}`);
  return { headers: { cookie, 'sec-fetch-site': 'same-origin' } };
}

/** `name=value` of the session cookie that an answer sets; undefined when it sets none, empty when it clears it. */
export function cookieOf(headers: Headers): string | undefined {
  const set = headers.getSetCookie().find((line) => /^(__Host-)?lanyard_session=/.test(line));
  return set?.split(';')[0];
}
