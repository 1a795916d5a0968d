import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { account } from '../contract/account.ts';
import { customers } from '../contract/customers.ts';
import { licenses } from '../contract/licenses.ts';
import { imports } from '../contract/imports.ts';
import type { Permission } from '../contract/permissions.ts';
import { session } from '../contract/session.ts';
import { users } from '../contract/users.ts';
import { stubBrowser } from '../tests/browser.ts';

const storage = stubBrowser();
vi.stubGlobal('navigator', {});

const { call, onChanged, urlOf } = await import('./api.ts');
const { runBulk } = await import('./bulk-run.ts');
const { clearSession, getSession, setSession } = await import('./session-store.ts');
const { addDialog } = await import('./ui/open-dialogs.ts');
const { addForm } = await import('./ui/open-forms.ts');
const { setRolePreview } = await import('./role-preview.ts');
const { ApiError, errorOf, isUnanswered, messageOf } = await import('./api-error.ts');

const signedIn = {
  user: { userId: 'u1', email: 'dana@clinic.example', name: 'Dana Ruiz' },
  accessToken: 'first',
  permissions: [
    { resource: 'customers', action: 'create' },
    { resource: 'customers', action: 'read' },
    { resource: 'licenses', action: 'read' },
    { resource: 'api_keys', action: 'read' },
  ] as Permission[],
  roles: [],
};
const sent: { url: string; init: RequestInit }[] = [];

/** Responds to the calls in order; a string is a body, an object its JSON. */
function answer(...answers: [status: number, body?: unknown][]) {
  const fetch = vi.fn((url: string, init: RequestInit) => {
    sent.push({ url, init });
    const [status, body] = answers.shift() ?? [500, 'no answer left'];
    const text = typeof body === 'string' ? body : body === undefined ? null : JSON.stringify(body);
    return Promise.resolve(new Response(text, { status }));
  });
  vi.stubGlobal('fetch', fetch);
  return fetch;
}

beforeEach(() => setSession(signedIn));
afterEach(() => {
  sent.length = 0;
  clearSession();
});

describe('what an answer gives', () => {
  test('the data property, else the whole body, null when it is empty', async () => {
    answer(
      [200, { success: true, data: { name: 'Osaka Medical' } }],
      [200, { name: 'Osaka Medical' }],
      [204],
    );
    expect(await call(customers.get, { params: { id: 'c1' } })).toEqual({ name: 'Osaka Medical' });
    expect(await call(customers.get, { params: { id: 'c1' } })).toEqual({ name: 'Osaka Medical' });
    expect(await call(customers.hardDelete, { params: { id: 'c1' } })).toBeNull();
  });

  test('a change tells what it returned, unless that is a secret; a read tells nothing', async () => {
    const told: unknown[] = [];
    const tell = (data: unknown) => void told.push(data);
    onChanged.add(tell);
    const customer = { customerId: 'c1', updatedAt: '2026-11-20T10:00:00.000Z' };
    answer([200, customer], [200, { secret: 'JBSWY3DP' }], [200, { ...customer, name: 'Osaka Medical' }]);
    await call(customers.get, { params: { id: 'c1' } });
    await call(account.enrollSecondFactor, { body: { currentPassword: 'mine' } });
    await call(customers.restore, { params: { id: 'c1' } });
    onChanged.delete(tell);
    expect(told).toEqual([{ ...customer, name: 'Osaka Medical' }]);
  });

  test('data and meta of a list', async () => {
    answer([200, { success: true, data: [], meta: { total: 0, limit: 50, offset: 0, deleted: 3 } }]);
    expect((await call(customers.list, {})).meta.deleted).toBe(3);
  });

  test('a bare list, or one without meta, has its length as the total', async () => {
    answer([200, [{ name: 'a' }, { name: 'b' }]], [200, { data: [{ name: 'a' }] }], [204]);
    const meta = { limit: null, offset: 0 };
    expect(await call(customers.trash, {})).toEqual({
      data: [{ name: 'a' }, { name: 'b' }],
      meta: { ...meta, total: 2 },
    });
    expect(await call(customers.trash, {})).toEqual({
      data: [{ name: 'a' }],
      meta: { ...meta, total: 1 },
    });
    expect(await call(customers.trash, {})).toEqual({ data: [], meta: { ...meta, total: 0 } });
  });

  test.each([
    ['a list', { moduleIds: ['mod_copd', 'mod_asthma'] }],
    ['a list holding one JSON text', { moduleIds: ['["mod_copd","mod_asthma"]'] }],
    ['a JSON text', { moduleIds: '["mod_copd","mod_asthma"]' }],
    ['modules', { modules: ['mod_copd', 'mod_asthma'] }],
    ['modules as a JSON text', { modules: '["mod_copd","mod_asthma"]' }],
  ])('the modules of a license, sent as %s, as a list', async (_, travelling) => {
    const expected = { licenseId: 'l1', moduleIds: ['mod_copd', 'mod_asthma'] };
    const one = { licenseId: 'l1', ...travelling };
    answer([200, { data: one }], [200, [one]], [200, { data: [{ name: 'a', licenses: [one] }], meta: {} }]);
    expect(await call(licenses.get, { params: { id: 'l1' } })).toEqual(expected);
    expect((await call(licenses.list)).data).toEqual([expected]);
    expect((await call(customers.list)).data).toEqual([{ name: 'a', licenses: [expected] }]);
  });

  test('an answer that is not JSON is an error in words', async () => {
    answer([200, '<!doctype html><title>Sign in to the network</title>']);
    await expect(call(customers.list)).rejects.toThrow('The server returned an unreadable response.');
  });
});

test('a proxy that failed may have passed a change on; the service that refuses has made none', async () => {
  const id = { params: { id: 'a' } };
  const failure = (made: Promise<unknown>) =>
    made.catch((error: unknown) => [messageOf(error), isUnanswered(error)]);
  const failed = [502, '<html>'] as const;
  answer([...failed], [...failed], [...failed], [503, { error: 'Busy', code: 'UNAVAILABLE' }]);
  expect(await failure(call(customers.softDelete, id))).toEqual([
    'Request failed with status 502\nYour change may have been applied. Check before you try again.',
    true,
  ]);
  expect(await failure(call(customers.get, id))).toEqual(['Request failed with status 502', false]);
  const check = call(imports.checkCustomers, { body: { csv: 'name', skipExisting: false } });
  expect(await failure(check)).toEqual(['Request failed with status 502', false]);
  expect(await failure(call(customers.softDelete, id))).toEqual(['Busy', false]);
  answer([200, '<title>Sign in to the network</title>']);
  expect(await failure(call(customers.softDelete, id))).toEqual([
    'The server returned an unreadable response.\nYour change may have been applied. Check before you try again.',
    true,
  ]);
});

describe('what is sent', () => {
  test('cookies, the token, JSON, and parameters where the path has them', async () => {
    answer([200, {}]);
    await call(customers.update, { params: { id: 'a/b' }, body: { name: 'N', country: 'DE' } });
    expect(sent[0]?.url).toBe('/api/customers/a%2Fb');
    expect(sent[0]?.init).toMatchObject({
      method: 'PUT',
      credentials: 'include',
      body: '{"name":"N","country":"DE"}',
      headers: { Authorization: 'Bearer first', 'Content-Type': 'application/json' },
    });
    answer([200, {}], [204]);
    await call(customers.get, { params: { id: 'c1' } });
    await call(customers.hardDelete, { params: { id: 'c1' } });
    for (const { init } of sent) expect(init.headers).toMatchObject({ 'Content-Type': 'application/json' });
  });

  test('only the filters that are set', () => {
    expect(urlOf(customers.exportCsv, { query: { search: 'a b', status: undefined } })).toBe(
      '/api/customers/export.csv?search=a+b',
    );
  });
});

describe('the text of an error', () => {
  const textOf = (status: number, body: unknown) =>
    errorOf(status, typeof body === 'string' ? body : JSON.stringify(body)).message;

  test.each([
    ['message', { message: 'Said so' }, 'Said so'],
    ['error', { error: 'Went wrong' }, 'Went wrong'],
    ['message before error', { message: 'First', error: 'Second' }, 'First'],
    ['an object', { error: { reason: 'x' } }, '{"reason":"x"}'],
    ['details', { error: 'Bad', details: 'name is missing' }, 'Bad\nDetails: name is missing'],
    ['no details', { error: 'Bad', details: [] }, 'Bad'],
    ['details of another shape', { error: 'Bad', details: { a: 1 } }, 'Bad\nDetails: {"a":1}'],
    [
      'details by field',
      { error: 'Bad', details: [{ path: 'email', message: 'Must be an email address' }] },
      'Bad\nDetails: email: Must be an email address',
    ],
    ['plain text of 99 characters', 'x'.repeat(99), 'x'.repeat(99)],
    ['plain text of 100 characters', 'x'.repeat(100), 'Request failed with status 502'],
    ['a short HTML page', '<html><body>Bad gateway</body></html>', 'Request failed with status 502'],
    ['a short HTML fragment', '\n <h1>502</h1> nginx', 'Request failed with status 502'],
    ['an HTML page after a comment', '<!-- x --><!DOCTYPE html>Oops', 'Request failed with status 502'],
    ['XML', '<?xml version="1.0"?><Error/>', 'Request failed with status 502'],
    ['text with a lesser sign', 'size < 20 MB expected', 'size < 20 MB expected'],
    ['nothing', '', 'Request failed with status 502'],
    ['an object that says nothing', {}, 'Request failed with status 502'],
  ])('%s', (_, body, expected) => expect(textOf(502, body)).toBe(expected));

  test('is Unknown error where there is none', () => {
    expect(messageOf(new Error(''))).toBe('Unknown error');
    expect(messageOf('thrown')).toBe('Unknown error');
    expect(messageOf(new Error('Said so'))).toBe('Said so');
  });

  test('carries status, code, details and request id', async () => {
    const details = [{ path: 'name', message: 'differs' }];
    answer([409, { success: false, error: 'Changed', code: 'EDIT_CONFLICT', details, requestId: 'r1' }]);
    const error = await call(customers.get, { params: { id: 'c1' } }).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 409, code: 'EDIT_CONFLICT', details, requestId: 'r1' });
  });

  test('a server that cannot be reached', async () => {
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')));
    await expect(call(customers.list)).rejects.toMatchObject({ status: 0 });
  });
});

describe('routes that the user may not read', () => {
  test('is not asked for', async () => {
    const fetch = answer();
    await expect(call(users.list)).rejects.toMatchObject({
      status: 403,
      message: 'You lack the permission users:read.',
    });
    expect(fetch).not.toHaveBeenCalled();
  });

  test('changes are left to the server to refuse', async () => {
    answer([403, { error: 'You lack the permission customers:delete.' }]);
    await expect(call(customers.hardDelete, { params: { id: 'c1' } })).rejects.toThrow('customers:delete');
    expect(sent).toHaveLength(1);
  });
});

describe('401', () => {
  const renewed = { success: true, data: { ...signedIn, accessToken: 'second' } };
  const otherSignsIn = () => {
    storage.set('user', JSON.stringify({ ...signedIn.user, userId: 'u2' }));
    storage.set('accessToken', 'of somebody else');
  };

  test('renews the session once for all calls, then repeats them', async () => {
    const fetch = answer([401], [401], [200, renewed], [200, { data: 1 }], [200, { data: 2 }]);
    await Promise.all([call(session.me), call(session.me)]);
    const paths = fetch.mock.calls.map(([url]) => url);
    expect(paths.filter((path) => path === session.refresh.path)).toHaveLength(1);
    expect(sent.at(-1)?.init.headers).toMatchObject({ Authorization: 'Bearer second' });
    expect(getSession()?.accessToken).toBe('second');
  });

  test('ends the session when it cannot be renewed', async () => {
    answer([401], [401, { error: 'Session over' }]);
    await expect(call(session.me)).rejects.toThrow('Authentication failed - please log in again');
    expect(getSession()).toBeNull();
  });

  test('keeps the session when the server only fails to answer', async () => {
    answer([401], [503, { error: 'Unavailable' }]);
    await expect(call(session.me)).rejects.toThrow('Unavailable');
    expect(getSession()).not.toBeNull();
  });

  test('uses a token that another tab has renewed', async () => {
    const fetch = answer([401], [200, { data: {} }]);
    storage.set('accessToken', 'from another tab');
    await call(session.me);
    expect(fetch).toHaveBeenCalledTimes(2);
    expect(sent.at(-1)?.init.headers).toMatchObject({ Authorization: 'Bearer from another tab' });
  });

  describe('where another tab renewed at the same time, which leaves one of two tokens working,', () => {
    beforeEach(() => vi.useFakeTimers());
    afterEach(() => vi.useRealTimers());
    const third = { success: true, data: { ...signedIn, accessToken: 'third' } };

    test('uses that of the other tab', async () => {
      const fetch = answer([401], [200, renewed], [401], [200, { data: {} }]);
      const asking = call(session.me);
      await vi.waitFor(() => expect(fetch).toHaveBeenCalledTimes(3));
      storage.set('accessToken', 'from another tab');
      await vi.advanceTimersByTimeAsync(500);
      await asking;
      expect(sent.at(-1)?.init.headers).toMatchObject({ Authorization: 'Bearer from another tab' });
    });

    test('stores its own over that of the other tab: the one that is answered last works', async () => {
      const fetch = vi.fn((url: string, { headers }: RequestInit) => {
        if (url === session.refresh.path) {
          storage.set('accessToken', 'from another tab');
          return Promise.resolve(Response.json(renewed));
        }
        const { Authorization } = headers as Record<string, string>;
        return Promise.resolve(Response.json({}, { status: Authorization === 'Bearer second' ? 200 : 401 }));
      });
      vi.stubGlobal('fetch', fetch);
      const asking = call(session.me);
      await Promise.all([expect(asking).resolves.toEqual({}), vi.advanceTimersByTimeAsync(2000)]);
      expect(fetch).toHaveBeenCalledTimes(3);
      expect(storage.get('accessToken')).toBe('second');
    });

    test('renews once more if its own was stored last', async () => {
      answer([401], [200, renewed], [401], [200, third], [200, { data: {} }]);
      const asking = call(session.me);
      await vi.advanceTimersByTimeAsync(500);
      await asking;
      expect(getSession()?.accessToken).toBe('third');
    });

    test('ends the session when no token works', async () => {
      const renewal = [[200, renewed], [401]] as const;
      answer(
        [401],
        ...Array.from({ length: 9 }, () => renewal)
          .flat()
          .map(([...one]) => one as [number]),
      );
      const asking = expect(call(session.me)).rejects.toThrow('Authentication failed - please log in again');
      await vi.advanceTimersByTimeAsync(2000);
      await asking;
      expect(getSession()).toBeNull();
    });
  });

  test('fails, and keeps the session, when a renewal gets no answer for long', async () => {
    const late = new AbortController();
    const limit = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(late.signal);
    vi.stubGlobal('fetch', (url: string, { signal }: RequestInit) => {
      if (url !== session.refresh.path) return Promise.resolve(new Response(null, { status: 401 }));
      late.abort(new DOMException('late', 'TimeoutError'));
      return Promise.reject(signal?.reason as Error);
    });
    await expect(call(session.me)).rejects.toThrow('The server cannot be reached. Check the connection');
    expect(getSession()).not.toBeNull();
    limit.mockRestore();
  });

  test.each([
    ['the user signed out', () => clearSession({ asked: true }), null],
    ['somebody else signed in, in another tab', () => otherSignsIn(), 'of somebody else'],
  ])('drops a renewal that is answered after %s', async (_, leave, left) => {
    const fetch = vi.fn((url: string) => {
      if (url !== session.refresh.path) return Promise.resolve(new Response(null, { status: 401 }));
      leave();
      return Promise.resolve(Response.json(renewed));
    });
    vi.stubGlobal('fetch', fetch);
    await expect(call(session.me)).rejects.toThrow('Authentication failed - please log in again');
    expect(fetch).toHaveBeenCalledTimes(2);
    expect(getSession()?.accessToken ?? null).toBe(left);
    expect(storage.get('accessToken') ?? null).toBe(left);
  });

  test.each([
    ['refused', 401, {}],
    // with the lock, no other tab can have renewed it
    ['granted', 200, { locks: { request: (_: string, job: () => unknown) => job() } }],
  ])(
    'keeps the session of a user who signed in again while that before was %s',
    async (_, status, browser) => {
      vi.stubGlobal('navigator', browser);
      onTestFinished(() => void vi.stubGlobal('navigator', {}));
      const fetch = vi.fn((url: string, { headers }: RequestInit) => {
        if (url === session.refresh.path) {
          storage.set('accessToken', 'signed in again');
          return Promise.resolve(Response.json(renewed, { status }));
        }
        const { Authorization } = headers as Record<string, string>;
        const isOver = Authorization !== 'Bearer signed in again';
        return Promise.resolve(Response.json({}, { status: isOver ? 401 : 200 }));
      });
      vi.stubGlobal('fetch', fetch);
      await expect(call(session.me)).resolves.toEqual({});
      expect(fetch).toHaveBeenCalledTimes(3);
      expect(storage.get('accessToken')).toBe('signed in again');
    },
  );

  test('sends no call of a user who has left as the one who signed in since', async () => {
    const fetch = answer([401]);
    const asking = call(session.me);
    otherSignsIn();
    await expect(asking).rejects.toThrow('Authentication failed - please log in again');
    expect(fetch).toHaveBeenCalledTimes(1);
    expect(getSession()).toMatchObject({ accessToken: 'of somebody else' });
  });

  test('tells no change of a user who has left, so that the rest of many is not sent as another', async () => {
    const other = { ...signedIn, user: { ...signedIn.user, userId: 'u2' }, accessToken: 'of somebody else' };
    const fetch = answer([204], [204]);
    const told = vi.fn();
    const deleteOne = (id: string) => call(customers.hardDelete, { params: { id } });
    void deleteOne('c1')
      .finally(told)
      .then(() => deleteOne('c2'));
    setSession(other);
    await call(session.me).catch(() => undefined);
    expect(fetch.mock.calls.map(([url]) => url)).toEqual([
      customers.hardDelete.path.replace('{id}', 'c1'),
      session.me.path,
    ]);
    expect(told).not.toHaveBeenCalled();
  });

  test('sends no change of a run again after a pause in which its user has left', async () => {
    vi.useFakeTimers();
    const fetch = answer([503], [204]);
    void runBulk(['c1'], (id) => call(customers.hardDelete, { params: { id } }));
    await vi.advanceTimersByTimeAsync(500);
    setSession({ ...signedIn, user: { ...signedIn.user, userId: 'u2' } });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(fetch).toHaveBeenCalledTimes(1);
    vi.useRealTimers();
  });

  test('of the sign-in itself is the server’s word, not a session that ended', async () => {
    answer([401, { success: false, error: 'Email or password is wrong' }]);
    const body = { email: 'a@b.example', password: 'x' };
    await expect(call(session.login, { body })).rejects.toThrow('Email or password is wrong');
    expect(getSession()).not.toBeNull();
  });

  test('of a current password that is wrong leaves the session and is not tried again', async () => {
    const fetch = answer([401, { success: false, error: 'Not right', code: 'WRONG_CREDENTIALS' }]);
    const body = { currentPassword: 'x', newPassword: 'fresh and long', confirmPassword: 'fresh and long' };
    await expect(call(account.changePassword, { body })).rejects.toThrow('Not right');
    expect(fetch).toHaveBeenCalledTimes(1);
    expect(getSession()).not.toBeNull();
  });
});

describe('while the console is shown as another role', () => {
  beforeEach(() =>
    setRolePreview({
      role: 'viewer',
      label: 'Viewer',
      permissions: [{ resource: 'customers', action: 'read' }],
    }),
  );
  afterEach(() => setRolePreview(null));

  test('changes are refused without a call', async () => {
    const fetch = answer();
    await expect(call(customers.hardDelete, { params: { id: 'c1' } })).rejects.toThrow(
      'You see the console as Viewer. Nothing can be changed: choose Exit first.',
    );
    expect(fetch).not.toHaveBeenCalled();
  });

  test('what the role may read is asked for, and nothing else', async () => {
    answer([200, { data: [] }], [200, { data: {} }]);
    await call(customers.list);
    await call(session.me);
    await expect(call(users.list)).rejects.toThrow('Viewer lacks the permission users:read.');
    expect(sent).toHaveLength(2);
  });

  test('signing out and keeping the session alive go on', async () => {
    answer([204]);
    await call(session.logout);
    expect(sent).toHaveLength(1);
  });
});

describe('the key that lets a change be sent again', () => {
  const create = (name: string) => call(customers.create, { body: { name, country: 'NO' } });
  const keys = () => sent.map(({ init }) => (init.headers as Record<string, string>)['Idempotency-Key']);
  const lost = () =>
    vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
      sent.push({ url, init });
      return Promise.reject(new TypeError('Failed to fetch'));
    });

  test('is on every change and on nothing else', async () => {
    answer([200, {}], [200, {}], [204], [200, {}]);
    await call(customers.get, { params: { id: 'c1' } });
    await create('Osaka Medical');
    await call(customers.hardDelete, { params: { id: 'c1' } });
    await call(session.login, { body: { email: 'a@b.example', password: 'x' } });
    const [read, ...changes] = keys();
    expect(read).toBeUndefined();
    expect(new Set(changes).size).toBe(3);
    for (const key of changes) expect(key).toMatch(/^[\d-]{7,}$/);
  });

  test('stays the same from one dialog until the answer has come, also with a renewed session', async () => {
    const close = addForm({});
    lost();
    await expect(create('Osaka Medical')).rejects.toThrow('The server cannot be reached');
    answer([401], [200, { data: { ...signedIn, accessToken: 'second' } }], [200, {}], [200, {}]);
    await create('Osaka Medical');
    const [first, refused, , renewed] = keys();
    expect([refused, renewed]).toEqual([first, first]);
    // The change has succeeded, so the same request again is a new one.
    await create('Osaka Medical');
    expect(keys().at(-1)).not.toBe(first);
    close();
  });

  test('stays the same while the dialog asks whether to leave it', async () => {
    lost();
    const close = addForm({});
    await expect(create('Osaka Medical')).rejects.toThrow();
    const answerQuestion = addDialog({ onEscape: () => {} });
    await expect(create('Osaka Medical')).rejects.toThrow('Send it again unchanged');
    answerQuestion();
    close();
    expect(new Set(keys()).size).toBe(1);
  });

  test('stays the same in a run, without a dialog, and once its dialog was left for another one', async () => {
    vi.useFakeTimers();
    for (const open of [() => () => {}, () => addForm({})]) {
      const close = open();
      sent.length = 0;
      lost();
      const running = runBulk(['c1'], (id, form) => call(customers.hardDelete, { params: { id } }, { form }));
      await vi.advanceTimersByTimeAsync(500);
      close();
      const closeNext = addForm({});
      await vi.runAllTimersAsync();
      expect((await running).failed).toHaveLength(1);
      closeNext();
      expect([keys().length, new Set(keys()).size]).toEqual([4, 1]);
    }
    vi.useRealTimers();
  });

  test('is another one for other input, in another dialog, and without a dialog', async () => {
    lost();
    const closeFirst = addForm({});
    await expect(create('Osaka Medical')).rejects.toThrow();
    await expect(create('Osaka Medical Center')).rejects.toThrow();
    closeFirst();
    const closeSecond = addForm({});
    await expect(create('Osaka Medical')).rejects.toThrow();
    closeSecond();
    await expect(create('Osaka Medical')).rejects.toThrow();
    await expect(create('Osaka Medical')).rejects.toThrow();
    expect(new Set(keys()).size).toBe(5);
  });
});
