import type { Page } from '@playwright/test';
import { customers } from '../../contract/customers.ts';
import { licenses } from '../../contract/licenses.ts';
import { machines } from '../../contract/machines.ts';
import { releases, type Release } from '../../contract/releases.ts';
import { users } from '../../contract/users.ts';
import { present } from '../../server/invariants.ts';
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
  /** May name what is shown: `/machines/{machine}?tab=activations`. */
  path: string;
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

/** The address of a screen, with the records that it shows. */
export const addressOn = ({ path }: Screen, shown: Shown) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    present(shown[name as keyof Shown], `there is no ${name}`),
  );

type Named<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | Named<Rest> : never;

/** An address whose names in braces are those of `Shown`. */
export type Address<Path> = Named<Path> extends keyof Shown ? Path : never;

const at = <const Path extends string>(
  name: string,
  path: Address<Path>,
  more: Partial<Screen> = {},
): Screen => ({ name, path, ...more });

const listOfLicenses = (url: URL) => url.pathname === licenses.list.path;

/** Every screen, the dialogs that have an address, and the states of a list. */
export const screens: Screen[] = [
  at('sign-in', '/login', { signedOut: true }),
  at('licenses', '/licenses'),
  at('licenses-by-expiry', '/licenses?sort=validUntil'),
  at('licenses-loading', '/licenses', {
    before: (page) => page.route(listOfLicenses, () => {}),
  }),
  at('licenses-empty', '/licenses?search=no+such+hospital'),
  at('licenses-error', '/licenses', {
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
  at('license-create', '/licenses?dialog=create'),
  at('license-edit', '/licenses?edit={license}'),
  at('license-activations', '/licenses?activations={licenseKey}'),
  at('license-new', '/licenses/new'),
  at('license', '/licenses/{license}'),
  at('licenses-revoked', '/licenses?tab=revoked'),
  at('licenses-expired', '/licenses?tab=expired'),
  at('license-import', '/licenses?dialog=import'),
  at('customers', '/customers'),
  at('customer-create', '/customers?dialog=create'),
  at('customer-import', '/customers?dialog=import'),
  at('customer-edit', '/customers?edit={customer}'),
  at('customer-policy', '/customers?policy={customer}'),
  at('customer', '/customers/{customer}'),
  at('customers-bin', '/customers/trash'),
  at('today', '/today'),
  at('analytics', '/analytics'),
  at('releases', '/releases'),
  at('release-analytics', '/releases?tab=analytics'),
  at('release-defaults', '/releases?dialog=defaults'),
  at('release-upload', '/releases?dialog=create'),
  at('release-edit', '/releases?edit={release}'),
  at('release', '/releases/{release}'),
  at('releases-bin', '/releases/trash'),
  at('approvals', '/releases/approvals'),
  at('policies', '/releases/policies'),
  at('machines', '/machines'),
  at('machine', '/machines/{machine}'),
  at('machine-downloads', '/machines/{machine}?tab=downloads'),
  at('machine-activations', '/machines/{machine}?tab=activations'),
  at('users', '/users'),
  at('user-create', '/users?dialog=create'),
  at('user-edit', '/users?edit={user}'),
  at('roles', '/users?tab=roles'),
  at('audit', '/audit'),
  at('audit-failed', '/audit?status=failed'),
  at('api-keys', '/api-keys'),
  at('api-key-create', '/api-keys?dialog=create'),
  at('account', '/account'),
  at('not-found', '/nowhere'),
  at('record-missing', '/customers/018f0000-0000-7000-8000-000000000000', { failure: 404 }),
];
