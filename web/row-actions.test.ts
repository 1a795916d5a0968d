import { describe, expect, test } from 'vitest';
import type { ApiKey } from '../contract/api-keys.ts';
import type { ListedActivation } from '../contract/activations.ts';
import type { Customer } from '../contract/customers.ts';
import type { License } from '../contract/licenses.ts';
import type { DeletedRelease, Release } from '../contract/releases.ts';
import type { User } from '../contract/users.ts';
import { activationActions } from './features/activations/activation-actions.ts';
import { apiKeyActions } from './features/api-keys/api-key-columns.tsx';
import { customerActions } from './features/customers/customer-actions.ts';
import { trashActions as customerTrash } from './features/customers/trash-columns.tsx';
import { licenseActions } from './features/licenses/license-actions.ts';
import { releaseActions } from './features/releases/release-actions.ts';
import { trashActions as releaseTrash } from './features/releases/trash-actions.ts';
import { userActions } from './features/users/user-actions.ts';
import { inOrder, type RowActionList } from './ui/row-actions.ts';

/** Any handler, for a user who may do everything. */
const on = () => {};
const license = { status: 'active', customer: { name: 'Clinic', deletedAt: null } } as License;
const user = { id: 'one', status: 'active', roles: [], role: 'viewer' } as unknown as User;
const me = { userId: 'other', isSuperAdmin: true, holds: () => true };
const release = {
  isActive: true,
  isDraft: false,
  rolloutPercentage: 50,
  pausedAt: null,
  fileUrl: 'https://files.example/app.exe',
} as Release;

const ofLicense = {
  can: { createLicenses: true, updateLicenses: true },
  onActivations: on,
  onOpen: on,
  onAsk: on,
  onExtend: on,
};
const ofUser = { me, roles: [], mayUpdate: true, mayDelete: true, onEdit: on, onAction: on };
const ofRelease = { onOpen: on, onEdit: on, onPause: on, onResume: on, onWithdraw: on, onDelete: on };
const inTrash = { onReactivate: on, onDelete: on, whyNotReactivate: null, whyNotDelete: null };

const lists: Record<string, RowActionList> = {
  licenses: licenseActions(license, ofLicense),
  'revoked licenses': licenseActions({ ...license, status: 'revoked' }, ofLicense),
  customers: customerActions({ onPage: on, onEdit: on, onPolicy: on, onDelete: on })!({} as Customer),
  'deleted customers': customerTrash({} as Customer, inTrash),
  releases: releaseActions(release, ofRelease),
  'paused releases': releaseActions({ ...release, pausedAt: '2026-01-01T00:00:00.000Z' }, ofRelease),
  'deleted releases': releaseTrash({} as DeletedRelease, {
    onRestore: on,
    onDelete: on,
    whyNot: null,
    mayPublish: false,
  }),
  users: userActions(user, ofUser),
  'inactive users': userActions({ ...user, status: 'inactive' }, ofUser),
  'API keys': apiKeyActions({ isActive: true } as ApiKey, { onView: on, onEdit: on, onRevoke: on }),
  activations: activationActions({ status: 'active' } as ListedActivation, {
    onDeactivate: on,
    onReactivate: on,
    isBusy: false,
    refusal: null,
  }),
};

describe.each(Object.entries(lists))('the row menu of %s', (_, list) => {
  const actions = inOrder(list);

  test('has a key for every action, none twice', () => {
    expect(new Set(actions.map(({ key }) => key)).size).toBe(actions.length);
  });

  test('marks what takes something away, which comes last', () => {
    const takesAway = /delete|revoke|withdraw|deactivate/i;
    expect(actions.filter(({ danger }) => danger).map(({ label }) => label)).toEqual(
      actions.filter(({ label }) => takesAway.test(label)).map(({ label }) => label),
    );
    const dangers = actions.map(({ danger }) => Boolean(danger));
    expect(dangers).toEqual(dangers.toSorted((a, b) => Number(a) - Number(b)));
  });
});

test.each([
  [{ isDraft: false, isActive: true }, false, 'rollouts:create or rollouts:update'],
  [{ isDraft: false, isActive: true }, true, null],
  [{ isDraft: true, isActive: true }, false, null],
  [{ isDraft: false, isActive: false }, false, null],
])(
  'of a deleted release %j, who may roll out (%s) restores it, unless it returns to no feed',
  (state, mayPublish, why) => {
    const handlers = { onRestore: on, onDelete: on, whyNot: null, mayPublish };
    const [restore, remove] = releaseTrash(state as DeletedRelease, handlers);
    expect(restore).toMatchObject({ reason: why === null ? null : expect.stringContaining(why) });
    expect(remove).toMatchObject({ reason: null });
  },
);
