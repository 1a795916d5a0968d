import { describe, expect, test } from 'vitest';
import { apiKeys } from '../contract/api-keys.ts';
import { permissionName, type Permission, type RoleName } from '../contract/permissions.ts';
import { releases, type Release } from '../contract/releases.ts';
import { needsOf, type Route } from '../contract/route.ts';
import { uploads } from '../contract/uploads.ts';
import { rbac, users } from '../contract/users.ts';
import { program } from './binaries.ts';
import { makeApiKey, makeRelease, unique } from './factories.ts';
import { startTestServer, type Api, type Identity } from './harness.ts';
import { nextVersion, uploader } from './uploading.ts';

/** `releases:update` as a permission. */
const right = (name: string): Permission => {
  const [resource, action] = name.split(':');
  return { resource, action } as Permission;
};

const server = await startTestServer();
const root = server.api((await server.signInAs('super_admin')).byCookie);

const roleName = () => unique('role').replace(' ', '_');

/** A role with exactly these permissions. */
async function roleWith(names: readonly string[]): Promise<string> {
  const roleId = roleName();
  await server.db.insertInto('roles').values({ role_id: roleId, description: 'For a test' }).execute();
  if (names.length > 0) {
    const rows = names.map((name) => ({ role_id: roleId, ...right(name) }));
    await server.db.insertInto('role_permissions').values(rows).execute();
  }
  return roleId;
}

/** A user with exactly these permissions. */
async function holderOf(names: readonly string[]): Promise<Holder> {
  const role = (await roleWith(names)) as RoleName;
  const { email } = await server.createPerson(role);
  const identity = (await server.signIn(email, role)).byCookie;
  return { ...server.api(identity), identity };
}

/** A user whose one role has exactly this permission, as the target of a call. */
async function subjectWith(names: readonly string[]): Promise<{ userId: string; role: string }> {
  const role = await roleWith(names);
  return { userId: (await server.createPerson(role as RoleName)).userId, role };
}

const urlRelease = (fields: object) => ({
  version: `7.0.${unique('').trim()}`,
  fileUrl: 'http://127.0.0.1:1/Setup.exe',
  fileSize: 2,
  sha512: 'a'.repeat(128),
  ...fields,
});

/** The response, as far as it distinguishes a refusal. */
type Outcome = { status: number; text: string; body: { error: string } };
type Holder = Api & { identity: Identity };

const sendDirect = (api: Holder, fields: Record<string, string>): Promise<Outcome> =>
  uploader(server.url, api, api.identity).direct({ version: nextVersion(), ...fields, file: program(300) });

async function sendInChunks(api: Holder): Promise<Outcome> {
  const upload = uploader(server.url, api, api.identity);
  const bytes = program(300);
  const version = nextVersion();
  const begun = await api.call(uploads.prepare, {
    body: { fileName: 'App Setup.exe', fileSize: bytes.length, version },
  });
  if (begun.status !== 201) return begun;
  const prepared = begun.body.data;
  await upload.sendAll(bytes, prepared);
  return upload.complete(bytes, prepared, { version, isDraft: false });
}

type Act = {
  what: string;
  route: Route;
  /** All required permissions, and one of `oneOf` where there are alternatives. */
  needs: string[];
  oneOf?: string[];
  /** Creates the target, and makes the call. */
  act: (api: Holder) => Promise<Outcome>;
};

const onRelease =
  (
    fields: Parameters<typeof makeRelease>[1],
    act: (api: Api, release: Release) => Promise<Outcome>,
    before: (release: Release) => Promise<unknown> = async () => undefined,
  ) =>
  async (api: Holder) => {
    const release = await makeRelease(server, fields);
    await before(release);
    return act(api, release);
  };

const patch = (api: Api, { id }: Release, body: object) =>
  api.call(releases.update, { params: { releaseId: id }, body });
const bin = ({ id }: Release) =>
  root.ok(releases.softDelete, { params: { releaseId: id }, body: { reason: 'For a test' } });
const restore = (api: Api, { id }: Release) =>
  api.call(releases.restore, { params: { releaseId: id }, body: { reason: 'For a test' } });

const rollouts = ['rollouts:create', 'rollouts:update'];
const acts: Act[] = [
  {
    what: 'creating a draft from an address',
    route: releases.createFromUrl,
    needs: ['releases:create'],
    act: (api) => api.call(releases.createFromUrl, { body: urlRelease({}) }),
  },
  {
    what: 'creating a published, mandatory release at 42 % from an address',
    route: releases.createFromUrl,
    needs: ['releases:create'],
    oneOf: rollouts,
    act: (api) =>
      api.call(releases.createFromUrl, {
        body: urlRelease({ isDraft: false, isMandatory: true, rolloutPercentage: 42 }),
      }),
  },
  {
    what: 'uploading a draft',
    route: uploads.direct,
    needs: ['releases:create'],
    act: (api) => sendDirect(api, {}),
  },
  {
    what: 'uploading a published release',
    route: uploads.direct,
    needs: ['releases:create'],
    oneOf: rollouts,
    act: (api) => sendDirect(api, { is_draft: 'false', rollout_percentage: '42' }),
  },
  {
    what: 'completing a chunked upload as a published release',
    route: uploads.complete,
    needs: ['releases:create'],
    oneOf: rollouts,
    act: (api) => sendInChunks(api),
  },
  {
    what: 'publishing a draft',
    route: releases.update,
    needs: ['releases:update'],
    oneOf: rollouts,
    act: onRelease({ isDraft: true }, (api, release) => patch(api, release, { isDraft: false })),
  },
  {
    what: 'bringing an inactive release back into the feeds',
    route: releases.update,
    needs: ['releases:update'],
    oneOf: rollouts,
    act: onRelease(
      {},
      (api, release) => patch(api, release, { isActive: true }),
      (release) => patch(root, release, { isActive: false }),
    ),
  },
  {
    what: 'changing the notes of a published release',
    route: releases.update,
    needs: ['releases:update'],
    act: onRelease({}, (api, release) => patch(api, release, { releaseNotes: 'Better' })),
  },
  {
    what: 'taking a published release out of the feeds',
    route: releases.update,
    needs: ['releases:update'],
    act: onRelease({}, (api, release) => patch(api, release, { isActive: false })),
  },
  ...[
    { rolloutPercentage: 42 },
    { channel: 'beta' as const },
    { isMandatory: true },
    { minimumAppVersion: '0.1.0' },
    { security: true },
    { minimumSupportedVersion: '0.1.0' },
  ].map((change): Act => ({
    what: `changing ${Object.keys(change)[0]} of a published release`,
    route: releases.update,
    needs: ['releases:update'],
    oneOf: rollouts,
    act: onRelease({}, (api, release) => patch(api, release, change)),
  })),
  {
    what: 'the rollout call',
    route: releases.rollout,
    needs: [],
    oneOf: rollouts,
    act: onRelease({}, (api, { id }) =>
      api.call(releases.rollout, { params: { releaseId: id }, body: { percentage: 42 } }),
    ),
  },
  {
    what: 'restoring a draft',
    route: releases.restore,
    needs: ['releases:delete'],
    act: onRelease({ isDraft: true }, restore, bin),
  },
  {
    what: 'restoring a published release',
    route: releases.restore,
    needs: ['releases:delete'],
    oneOf: rollouts,
    act: onRelease({}, restore, bin),
  },
  ...(
    [
      ['validate', ['licenses:update'], undefined],
      ['updates', ['releases:read', 'rollouts:update'], undefined],
      ['releases', ['releases:create'], rollouts],
    ] as const
  ).flatMap(([scope, needs, oneOf]): Act[] => [
    {
      what: `making an API key of the scope ${scope}`,
      route: apiKeys.create,
      needs: ['api_keys:create', ...needs],
      ...(oneOf ? { oneOf: [...oneOf] } : {}),
      act: (api) =>
        api.call(apiKeys.create, {
          body: { name: unique('Key'), expiresAt: '2036-01-01T00:00:00Z', scopes: [scope] },
        }),
    },
    ...(
      [
        ['adding the scope', { scopes: scope === 'validate' ? ['updates', scope] : ['validate', scope] }],
        ['extending the life', { expiresAt: '2037-01-01T00:00:00Z' }],
        ['opening the whitelist', { ipWhitelist: [] }],
        ['adding to the whitelist', { ipWhitelist: ['203.0.113.9', '198.51.100.7'] }],
        ['widening the whitelist', { ipWhitelist: ['203.0.113.8/31'] }],
        ['raising the limit', { rateLimit: 2_000_000 }],
        ['activating', { isActive: true }],
      ] as const
    ).map(([what, body]): Act => ({
      what: `${what} of an API key of the scope ${scope}`,
      route: apiKeys.update,
      needs: [
        'api_keys:update',
        ...needs,
        ...('scopes' in body
          ? scope === 'validate'
            ? ['releases:read', 'rollouts:update']
            : ['licenses:update']
          : []),
      ],
      ...(oneOf ? { oneOf: [...oneOf] } : {}),
      act: async (api) => {
        const held = 'scopes' in body ? (scope === 'validate' ? 'updates' : 'validate') : scope;
        const made = await makeApiKey(root, { scopes: [held], ipWhitelist: ['203.0.113.9'] });
        const params = { keyId: made.id };
        if ('isActive' in body) await root.ok(apiKeys.update, { params, body: { isActive: false } });
        return api.call(apiKeys.update, { params, body: body as never });
      },
    })),
  ]),
  ...[
    { what: 'renaming and deactivating an API key', body: { name: unique('Key'), isActive: false } },
    {
      what: 'narrowing the whitelist of an API key',
      body: { ipWhitelist: ['10.1.0.0/16', '10.2.3.4', '203.0.113.9/32', '2001:0DB8::1'] },
    },
  ].map(({ what, body }): Act => ({
    what,
    route: apiKeys.update,
    needs: ['api_keys:update'],
    act: async (api) => {
      const ipWhitelist = ['10.0.0.0/8', '203.0.113.9', '2001:db8::1'];
      const made = await makeApiKey(root, { scopes: ['releases'], ipWhitelist });
      return api.call(apiKeys.update, { params: { keyId: made.id }, body });
    },
  })),
  {
    what: 'making a user who may read licenses',
    route: users.create,
    needs: ['users:create', 'licenses:read'],
    act: async (api) =>
      api.call(users.create, {
        body: {
          email: `${roleName()}@lanyard.test`,
          name: '',
          password: 'a password nobody has',
          role: await roleWith(['licenses:read']),
        },
      }),
  },
  ...(
    [
      ['changing the email', users.update, { email: 'else@lanyard.test' }],
      [
        'resetting the password',
        users.resetPassword,
        { newPassword: 'another good one', confirmPassword: 'another good one' },
      ],
      ['deactivating', users.deactivate, undefined],
    ] as const
  ).map(([what, route, body]): Act => ({
    what: `${what} of somebody who may read licenses`,
    route,
    needs: ['users:update', 'licenses:read'],
    act: async (api) => {
      const { userId } = await subjectWith(['licenses:read']);
      const unlike = body && 'email' in body ? { email: `${roleName()}@lanyard.test` } : body;
      const request = { params: { id: userId }, body: unlike };
      return api.call<Route>(route, request);
    },
  })),
  {
    what: 'giving a role by an edit',
    route: users.update,
    needs: ['users:update', 'licenses:read'],
    act: async (api) => {
      const { userId } = await subjectWith([]);
      const role = await roleWith(['licenses:read']);
      return api.call(users.update, { params: { id: userId }, body: { role } });
    },
  },
  {
    what: 'deleting somebody who may read licenses',
    route: users.delete,
    needs: ['users:delete', 'licenses:read'],
    act: async (api) => {
      const { userId } = await subjectWith(['licenses:read']);
      return api.call(users.delete, { params: { id: userId } });
    },
  },
  {
    what: 'assigning a role',
    route: rbac.assignRole,
    needs: ['users:update', 'licenses:read'],
    act: async (api) => {
      const { userId } = await subjectWith([]);
      const roleId = await roleWith(['licenses:read']);
      return api.call(rbac.assignRole, { params: { userId, roleId } });
    },
  },
  {
    what: 'taking a role away',
    route: rbac.revokeRole,
    needs: ['users:update', 'licenses:read'],
    act: async (api) => {
      const { userId, role } = await subjectWith(['licenses:read']);
      return api.call(rbac.revokeRole, { params: { userId, roleId: role } });
    },
  },
  {
    what: 'copying a role',
    route: rbac.createRole,
    needs: ['users:update', 'licenses:read'],
    act: async (api) =>
      api.call(rbac.createRole, {
        body: { roleId: roleName(), description: 'A copy', copyFrom: await roleWith(['licenses:read']) },
      }),
  },
  ...(
    [
      ['switching the second-factor requirement', { requiresSecondFactor: true }],
      ['changing the description', { description: 'Another' }],
      ['adding a permission', { permissions: [right('licenses:read'), right('users:update')] }],
      ['taking the permission away', { permissions: [] }],
    ] as const
  ).map(([what, change]): Act => ({
    what: `${what} of a role that may read licenses`,
    route: rbac.updateRole,
    needs: ['users:update', 'licenses:read'],
    act: async (api) => {
      const roleId = await roleWith(['licenses:read']);
      const role = { description: 'For a test', requiresSecondFactor: false };
      const body = { ...role, permissions: [right('licenses:read')], ...change };
      return api.call(rbac.updateRole, {
        params: { roleId },
        body: { ...body, permissions: [...body.permissions] },
      });
    },
  })),
  {
    what: 'removing a role that may read licenses',
    route: rbac.deleteRole,
    needs: ['users:update', 'licenses:read'],
    act: async (api) => api.call(rbac.deleteRole, { params: { roleId: await roleWith(['licenses:read']) } }),
  },
];

/** Refused for a missing permission, not for an invalid request. */
const isRefused = ({ status, body }: Outcome) =>
  status === 403 || (status === 422 && /lack|may do more than you/.test(body.error));

describe('a colleague with one permission less', () => {
  const table = acts.flatMap(({ what, needs, oneOf = [], act }) => [
    ...needs.map((lacking) => ({
      what,
      lacking,
      held: [...needs.filter((name) => name !== lacking), ...oneOf],
      act,
    })),
    ...(oneOf.length > 0 ? [{ what, lacking: oneOf.join(' or '), held: needs, act }] : []),
  ]);
  test.each(table)('is refused $what without $lacking', async ({ held, act }) => {
    const answer = await act(await holderOf(held));
    expect(isRefused(answer), `${answer.status} ${answer.text}`).toBe(true);
  });
});

describe('what it takes is enough for', () => {
  const ways = acts.flatMap(({ what, needs, oneOf, act }) =>
    (oneOf ?? ['']).map((way) => ({ what, held: [...needs, ...(way ? [way] : [])], act })),
  );
  test.each(ways)('$what: $held', async ({ held, act }) => {
    const answer = await act(await holderOf(held));
    expect(isRefused(answer), `${answer.status} ${answer.text}`).toBe(false);
    expect([401, 403]).not.toContain(answer.status);
  });
});

test('whoever holds every permission is still no super admin, and changes none', async () => {
  const everything = (await root.ok(rbac.permissions)).map(permissionName);
  const api = await holderOf(everything);
  const { userId } = await server.createPerson('super_admin');
  const role = (await root.ok(rbac.roles)).find(({ roleId }) => roleId === 'super_admin')!;
  const password = { newPassword: 'another good one', confirmPassword: 'another good one' };
  for (const answer of [
    await api.call(rbac.updateRole, {
      params: { roleId: 'super_admin' },
      body: {
        description: role.description,
        requiresSecondFactor: !role.requiresSecondFactor,
        permissions: role.permissions,
      },
    }),
    await api.call(users.resetPassword, { params: { id: userId }, body: password }),
    await api.call(users.deactivate, { params: { id: userId } }),
    await api.call(rbac.createRole, {
      body: { roleId: roleName(), description: 'A copy', copyFrom: 'super_admin' },
    }),
  ])
    expect(answer.status, answer.text).toBe(422);
  expect((await root.ok(rbac.roles)).find(({ roleId }) => roleId === 'super_admin')).toEqual(role);
});

test('every route that grants or changes permissions is in this table', () => {
  const open = [users, rbac, apiKeys, releases, uploads].flatMap((calls) =>
    Object.entries(calls as Record<string, Route>)
      .filter(([, route]) => route.method !== 'GET' && needsOf(route.access).length > 0)
      .filter(([, route]) => !acts.some((act) => act.route === route))
      .map(([name]) => name),
  );
  // They remove permissions, or have rules of their own (sessions of others, files without a release).
  expect(open.toSorted()).toEqual(
    [
      'cancel',
      'chunk',
      'deletePermanently',
      'endSession',
      'pause',
      'prepare',
      'reactivate',
      'resetSecondFactor',
      'resume',
      'revoke',
      'softDelete',
      'withdraw',
    ].toSorted(),
  );
});
