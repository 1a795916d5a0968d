import type { Page } from '@playwright/test';
import { customers } from '../../contract/customers.ts';
import { licenses } from '../../contract/licenses.ts';
import { machines } from '../../contract/machines.ts';
import { releases, type Release } from '../../contract/releases.ts';
import { users } from '../../contract/users.ts';
import type { Api } from '../api-client.ts';

/** What the addresses of the screens name in the demo company. */
export type Shown = Awaited<ReturnType<typeof findShown>>;

/** The first record of each list; of the releases one whose rollout is not complete. */
export async function findShown(admin: Api) {
  const [license] = await admin.ok(licenses.list, { query: { limit: '1' } });
  const listed = await admin.ok(releases.list, {});
  const isRolledOut = (one: Release) => !one.isDraft && !one.pausedAt && one.rolloutPercentage < 100;
  const release = listed.find(isRolledOut) ?? listed[0];
  const [customer] = await admin.ok(customers.list, { query: { limit: '1' } });
  const [machine] = await admin.ok(machines.list, {});
  const [user] = await admin.ok(users.list, {});
  return {
    user: user!.id,
    license: license!.licenseId,
    licenseKey: license!.licenseKey,
    release: release!.id,
    customer: customer!.customerId,
    machine: machine!.machineIdHash,
  };
}

export type Screen = {
  name: string;
  path: (shown: Shown) => string;
  /** Before the screen is opened: what the service answers. */
  before?: (page: Page) => Promise<unknown>;
  /** What a person does on the screen to see it. */
  open?: (page: Page) => Promise<unknown>;
  /** The status of its request that fails. */
  failure?: number;
  signedOut?: true;
  /** The only width in pixels that has it. */
  width?: number;
};

const fixed = (name: string, path: string, more: Partial<Screen> = {}): Screen => ({
  name,
  path: () => path,
  ...more,
});

const listOfLicenses = (url: URL) => url.pathname === licenses.list.path;

/** Every screen, the dialogs that have an address, and the states of a list. */
export const screens: Screen[] = [
  fixed('sign-in', '/login', { signedOut: true }),
  fixed('licenses', '/licenses'),
  fixed('licenses-by-expiry', '/licenses?sort=validUntil'),
  fixed('licenses-loading', '/licenses', {
    before: (page) => page.route(listOfLicenses, () => {}),
  }),
  fixed('licenses-empty', '/licenses?search=no+such+hospital'),
  fixed('licenses-error', '/licenses', {
    failure: 400,
    before: (page) =>
      page.route(listOfLicenses, (route) =>
        route.fulfill({
          status: 400,
          json: {
            success: false,
            error: 'The search is not valid.',
            code: 'INVALID',
            requestId: 'req-4f2a91',
          },
        }),
      ),
  }),
  fixed('license-create', '/licenses?dialog=create'),
  { name: 'license-edit', path: ({ license }) => `/licenses?edit=${license}` },
  { name: 'license-activations', path: ({ licenseKey }) => `/licenses?activations=${licenseKey}` },
  fixed('license-new', '/licenses/new'),
  { name: 'license', path: ({ license }) => `/licenses/${license}` },
  fixed('licenses-revoked', '/licenses?tab=revoked'),
  fixed('licenses-expired', '/licenses?tab=expired'),
  fixed('license-import', '/licenses?dialog=import'),
  fixed('customers', '/customers'),
  fixed('customer-create', '/customers?dialog=create'),
  fixed('customer-import', '/customers?dialog=import'),
  { name: 'customer-edit', path: ({ customer }) => `/customers?edit=${customer}` },
  { name: 'customer-policy', path: ({ customer }) => `/customers?policy=${customer}` },
  { name: 'customer', path: ({ customer }) => `/customers/${customer}` },
  fixed('customers-bin', '/customers/trash'),
  fixed('today', '/today'),
  fixed('analytics', '/analytics'),
  fixed('releases', '/releases'),
  fixed('release-analytics', '/releases?tab=analytics'),
  fixed('release-defaults', '/releases?dialog=defaults'),
  fixed('release-upload', '/releases?dialog=create'),
  { name: 'release-edit', path: ({ release }) => `/releases?edit=${release}` },
  { name: 'release', path: ({ release }) => `/releases/${release}` },
  fixed('releases-bin', '/releases/trash'),
  fixed('approvals', '/releases/approvals'),
  fixed('policies', '/releases/policies'),
  fixed('machines', '/machines'),
  { name: 'machine', path: ({ machine }) => `/machines/${machine}` },
  { name: 'machine-downloads', path: ({ machine }) => `/machines/${machine}?tab=downloads` },
  { name: 'machine-activations', path: ({ machine }) => `/machines/${machine}?tab=activations` },
  fixed('users', '/users'),
  fixed('user-create', '/users?dialog=create'),
  { name: 'user-edit', path: ({ user }) => `/users?edit=${user}` },
  fixed('roles', '/users?tab=roles'),
  fixed('audit', '/audit'),
  fixed('audit-failed', '/audit?status=failed'),
  fixed('api-keys', '/api-keys'),
  fixed('api-key-create', '/api-keys?dialog=create'),
  fixed('account', '/account'),
  fixed('not-found', '/nowhere'),
  fixed('record-missing', '/customers/018f0000-0000-7000-8000-000000000000', { failure: 404 }),
];
