import type { Locator, Page } from '@playwright/test';
import { errorStatus, type ErrorBody } from '../../contract/errors.ts';
import { notices } from '../../contract/notices.ts';
import { program } from '../binaries.ts';
import type { Address, Screen } from './screens.ts';
import { chooseInMenu, expectStatus, signInByForm } from './support.ts';

const opened = <const Path extends string>(
  name: string,
  path: Address<Path>,
  open: (page: Page) => Promise<unknown>,
  more: Partial<Screen> = {},
): Screen => ({ name, path, open, ...more });

const press = (within: Page | Locator, name: string | RegExp) =>
  within
    .getByRole('button', { name, exact: typeof name === 'string' })
    .first()
    .click();
const rows = (page: Page | Locator) =>
  page.getByRole('row').filter({ has: page.getByRole('button', { name: 'More actions' }) });
const ofRow =
  (action: string, nth = 0) =>
  (page: Page) =>
    chooseInMenu(rows(page).nth(nth), action);
const ticked = (button?: string) => async (page: Page) => {
  await page.getByRole('checkbox', { name: 'Select all rows' }).check();
  if (button) await press(page, button);
};
/** In the topmost dialog. */
const inDialog = (button: string) => (page: Page) => press(page.getByRole('dialog').last(), button);
const pasted =
  (...lines: string[]) =>
  (page: Page) =>
    page.getByRole('dialog').getByRole('textbox').first().fill(lines.join('\n'));
const type = (page: Page, label: string, text: string) =>
  page.getByRole('textbox', { name: label }).first().fill(text);

/** The service refuses the next change at an address. */
async function refuse(page: Page, path: string, refusal: Pick<ErrorBody, 'code' | 'error' | 'details'>) {
  const status = errorStatus[refusal.code];
  expectStatus(page, status);
  await page.route(`**${path}`, (route) =>
    route.request().method() === 'GET'
      ? route.fallback()
      : route.fulfill({ status, json: { success: false, requestId: 'req-4f2a91', ...refusal } }),
  );
}
const changedNow = { path: 'updatedAt', message: 'Changed', current: new Date().toISOString() };

/** The dialogs, panels and menus that have no address: how each is opened from a screen. */
export const openedScreens: Screen[] = [
  opened(
    'sign-in-refused',
    '/login',
    (page) => {
      expectStatus(page, 401);
      return signInByForm(page, 'nobody@lanyard.test', 'not the password');
    },
    { signedOut: true },
  ),
  opened(
    'sign-in-code',
    '/login',
    async (page) => {
      const code = 'SECOND_FACTOR_REQUIRED';
      await refuse(page, '/api/v1/auth/login', { code, error: 'The code of the second factor is missing.' });
      await signInByForm(page, 'somebody@lanyard.test', 'a right password');
    },
    { signedOut: true },
  ),
  opened('notices', '/licenses', (page) => page.getByRole('button', { name: /^and \d+ more$/ }).click(), {
    before: (page) =>
      page.route(notices.list.path, async (route) => {
        const response = await route.fetch();
        const { data } = (await response.json()) as { data: object };
        const clock = { now: '2026-11-23T16:00:00Z', newest: '2026-12-24T16:00:00Z', releasesDue: 2 };
        await route.fulfill({
          response,
          json: { success: true, data: { ...data, storageDown: true, clock } },
        });
      }),
  }),
  opened('navigation', '/today', (page) => press(page, 'Navigation'), { width: 390 }),
  opened('palette', '/today', async (page) => {
    await page.keyboard.press('Control+k');
    await page.keyboard.type('lyon');
  }),
  opened('shortcuts', '/licenses', (page) => page.keyboard.press('?')),
  opened('unsaved', '/customers?dialog=create', async (page) => {
    await type(page, 'Name', 'Clinique du Parc');
    await page.keyboard.press('Escape');
  }),

  opened('license-menu', '/licenses', (page) => press(rows(page).first(), 'More actions')),
  opened('license-peek', '/licenses', ofRow('Peek')),
  opened('license-revoke', '/licenses', ofRow('Revoke')),
  opened('license-reactivate', '/licenses?tab=revoked', ofRow('Reactivate', 1)),
  opened('license-transfer', '/licenses', ofRow('Transfer')),
  opened('license-created', '/licenses/new', async (page) => {
    await page.getByRole('combobox', { name: 'Customer' }).fill('a');
    await page.getByRole('option').first().click();
    await page.getByRole('checkbox', { name: 'Lung Nodule' }).check();
    await press(page, 'Create License');
  }),
  opened('licenses-ticked', '/licenses', ticked()),
  opened('bulk-extend', '/licenses', ticked('Extend…')),
  opened('bulk-modules', '/licenses', ticked('Modules…')),
  opened('bulk-revoke', '/licenses', ticked('Revoke…')),
  opened('bulk-reactivate', '/licenses?tab=revoked', ticked('Reactivate…')),
  opened(
    'license-import-preview',
    '/licenses?dialog=import',
    pasted(
      'Customer,Type,Max Activations,Valid Until,Modules',
      'Bristol Royal Infirmary,enterprise,5,2027-12-31,mod_lung_nodule',
      'No such hospital,enterprise,5,2027-12-31,mod_lung_nodule',
    ),
  ),
  // A phone has other filters: the popover closes where the layout changes.
  opened('filters', '/licenses', (page) => press(page, 'More filters'), { width: 1024 }),
  opened('filters-phone', '/licenses', (page) => press(page, 'Filters'), { width: 390 }),
  opened('columns', '/customers', (page) => press(page, 'Columns')),
  opened('views', '/licenses?type=trial', (page) => press(page, 'Views')),
  opened('view-save', '/licenses?type=trial', async (page) => {
    await press(page, 'Views');
    await page.getByRole('menuitem', { name: 'Save as new view…' }).click();
  }),
  opened('machine-deactivate', '/licenses?activations={licenseKey}', inDialog('Deactivate')),
  opened('offline-activation', '/licenses?activations={licenseKey}', inDialog('Offline Activation')),
  opened('return-receipt', '/licenses?activations={licenseKey}', inDialog('Return Receipt')),

  opened('conflict', '/customers?edit={customer}', async (page) => {
    await refuse(page, '/api/customers/*', {
      code: 'EDIT_CONFLICT',
      error: 'This customer was changed by someone else while you were editing it.',
      details: [
        changedNow,
        {
          path: 'email',
          message: 'Changed',
          current: 'radiology@hospital.example',
          yours: 'it@hospital.example',
        },
      ],
    });
    await type(page, 'Email', 'it@hospital.example');
    await inDialog('Update Customer')(page);
    await page.getByText('radiology@hospital.example').waitFor();
  }),
  opened('customer-delete', '/customers', ofRow('Delete')),
  opened('customer-reactivate', '/customers/trash', (page) => press(page, 'Reactivate')),
  opened('customer-delete-permanently', '/customers/trash', (page) => press(page, 'Permanently Delete')),
  opened(
    'customer-import-preview',
    '/customers?dialog=import',
    pasted(
      'Company Name,Email,Country',
      'Clinique du Parc Annecy,it@parc-annecy.example,FR',
      'Hôpital,not an address,FR',
    ),
  ),

  opened('release-pause', '/releases/{release}', (page) => press(page, 'Pause')),
  opened('release-widen', '/releases/{release}', (page) => press(page, /^Widen/)),
  opened('release-withdraw', '/releases/{release}', (page) => press(page, 'Withdraw')),
  opened('release-delete', '/releases', ofRow('Delete')),
  opened('release-upload-file', '/releases?dialog=create', (page) =>
    page
      .locator('input[type=file]')
      .first()
      .setInputFiles({
        name: 'Lanyard-4.3.0-win-x64.exe',
        mimeType: 'application/octet-stream',
        buffer: program(2048),
      }),
  ),
  opened('approval-ask', '/releases/{release}', async (page) => {
    await refuse(page, '/widen', {
      code: 'NEEDS_APPROVAL',
      error: 'This change needs the approval of a second person.',
      details: [changedNow, { path: 'rolloutPercentage', message: 'Changed', current: 25, yours: 100 }],
    });
    await press(page, /^Widen/);
    await page
      .getByRole('dialog')
      .last()
      .getByRole('button', { name: /^Widen/ })
      .click();
    await page.getByRole('dialog', { name: 'Ask a Second Person' }).waitFor();
  }),
  opened('approval-approve', '/releases/approvals', (page) => press(page, 'Approve')),
  opened('approval-decline', '/releases/approvals', (page) => press(page, 'Decline')),
  opened('tag-policy', '/releases/policies', (page) => press(page, 'Edit')),
  opened('machine-peek', '/machines', ofRow('Peek')),
  opened('machine-end-enrollment', '/machines/{machine}?tab=activations', (page) =>
    press(page, 'End Enrollment'),
  ),

  opened('audit-entry', '/audit', (page) => page.getByRole('row').nth(1).press('Enter')),
  opened('audit-retention', '/audit', (page) => press(page, 'Retention')),
  opened('audit-chain', '/audit', (page) => press(page, /^Chain/)),
  opened('audit-verified', '/audit', (page) => press(page, 'Verify')),

  opened('api-key', '/api-keys', (page) => press(page, /^Details|^View/)),
  opened('api-key-created', '/api-keys?dialog=create', async (page) => {
    await type(page, 'Name', 'Workstations of the north');
    await page.getByLabel('Expiration Date').first().fill('2027-12-31T00:00');
    await inDialog('Create API Key')(page);
  }),
  opened('user-sessions', '/users', ofRow('Sessions')),
  opened('user-password', '/users', ofRow('Reset Password')),
  opened('user-deactivate', '/users', ofRow('Deactivate', 1)),
  opened('user-delete', '/users', ofRow('Delete', 1)),
  opened('role-new', '/users?tab=roles', (page) => press(page, 'New Role')),
  opened('role-seen', '/users?tab=roles&role=viewer', (page) => press(page, 'See the Console as This Role')),
  opened('second-factor', '/account', (page) => press(page, 'Set Up')),
];
