import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { permit, reads, seesApprovals, type Needs } from '../contract/permissions.ts';
import { requireServer } from './api.ts';
import { analyticsSearch } from './features/analytics/analytics-search.ts';
import { apiKeysSearch } from './features/api-keys/api-keys-search.ts';
import { approvalsSearch } from './features/approvals/approvals-search.ts';
import { auditSearch } from './features/audit/audit-search.ts';
import { customerSearch } from './features/customer-page/customer-search.ts';
import { customerListSearch, customerTrashSearch } from './features/customers/customers-search.ts';
import { licenseListSearch, licensePageSearch } from './features/licenses/licenses-search.ts';
import { newLicenseSearch } from './features/licenses/new-license-search.ts';
import { machineSearch } from './features/machines/machine-search.ts';
import { machinesSearch } from './features/machines/machines-search.ts';
import { policiesSearch } from './features/policies/policies-search.ts';
import { releasesSearch, releaseTrashSearch } from './features/releases/releases-search.ts';
import { releaseSearch } from './features/rollouts/release-search.ts';
import { loginSearch } from './features/session/login-search.ts';
import { usersSearch } from './features/users/users-search.ts';
import { paths } from './paths.ts';
import { getSession } from './session-store.ts';
import { ErrorScreen } from './shell/ErrorScreen.tsx';
import { registerPaletteSource } from './shell/palette-sources.ts';

/** The router reloads the page for a script that does not come, as after an update. */
const lazyScreen: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(
    () => load().catch((error: unknown) => requireServer().then(() => Promise.reject(error))),
    name,
  );

const root = createRootRoute({
  staticData: { needs: [] },
  // The router takes a path in any case and with a slash at its end; what compares paths knows only the screen's own.
  beforeLoad: ({ location: { pathname, searchStr, hash }, matches }) => {
    const path = matches.at(-1)?.pathname ?? pathname;
    // to the router, an address with a slash is the same: it would redirect to it without an end
    if (pathname !== path && pathname.replace(/\/$/, '').toLowerCase() === path.toLowerCase())
      router.history.replace(path + searchStr + (hash && `#${hash}`));
  },
});

const login = createRoute({
  getParentRoute: () => root,
  path: paths.login,
  staticData: { needs: [] },
  validateSearch: loginSearch,
  component: lazyScreen(() => import('./features/session/LoginPage.tsx'), 'LoginPage'),
});

/** All pages except the sign-in page: without a session they redirect there, and back afterwards. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  staticData: { needs: [] },
  beforeLoad: ({ location }) => {
    if (!getSession()) throw redirect({ to: paths.login, search: { redirect: location.href } });
  },
  component: lazyScreen(() => import('./SignedIn.tsx'), 'SignedIn'),
});

/** The parent of a page that needs a session, and the permissions that it needs. */
const needing = (needs: Needs) => ({
  getParentRoute: () => signedIn,
  staticData: { needs },
});

const screens = [
  createRoute({
    ...needing([]),
    path: paths.home,
    component: lazyScreen(() => import('./shell/Home.tsx'), 'Home'),
  }),
  createRoute({
    ...needing([]),
    path: paths.today,
    component: lazyScreen(() => import('./features/today/TodayPage.tsx'), 'TodayPage'),
  }),
  createRoute({
    ...needing(reads('licenses')),
    path: paths.licenses,
    validateSearch: licenseListSearch,
    component: lazyScreen(() => import('./features/licenses/LicensesPage.tsx'), 'LicensesPage'),
  }),
  createRoute({
    ...needing([[permit('licenses', 'create')]]),
    path: paths.newLicense,
    validateSearch: newLicenseSearch,
    component: lazyScreen(() => import('./features/licenses/NewLicensePage.tsx'), 'NewLicensePage'),
  }),
  createRoute({
    ...needing(reads('licenses')),
    path: paths.license,
    validateSearch: licensePageSearch,
    component: lazyScreen(() => import('./features/licenses/LicensePage.tsx'), 'LicensePage'),
  }),
  createRoute({
    ...needing(reads('customers')),
    path: paths.customers,
    validateSearch: customerListSearch,
    component: lazyScreen(() => import('./features/customers/CustomersPage.tsx'), 'CustomersPage'),
  }),
  createRoute({
    ...needing(reads('customers')),
    path: paths.customerTrash,
    validateSearch: customerTrashSearch,
    component: lazyScreen(() => import('./features/customers/CustomerTrashPage.tsx'), 'CustomerTrashPage'),
  }),
  createRoute({
    ...needing(reads('customers')),
    path: paths.customer,
    validateSearch: customerSearch,
    component: lazyScreen(() => import('./features/customer-page/CustomerPage.tsx'), 'CustomerPage'),
  }),
  createRoute({
    ...needing(reads('analytics')),
    path: paths.analytics,
    validateSearch: analyticsSearch,
    component: lazyScreen(() => import('./features/analytics/AnalyticsPage.tsx'), 'AnalyticsPage'),
  }),
  createRoute({
    ...needing(reads('releases')),
    path: paths.releases,
    validateSearch: releasesSearch,
    component: lazyScreen(() => import('./features/releases/ReleasesPage.tsx'), 'ReleasesPage'),
  }),
  createRoute({
    ...needing(reads('releases')),
    path: paths.releaseTrash,
    validateSearch: releaseTrashSearch,
    component: lazyScreen(() => import('./features/releases/ReleaseTrashPage.tsx'), 'ReleaseTrashPage'),
  }),
  createRoute({
    ...needing(seesApprovals),
    path: paths.approvals,
    validateSearch: approvalsSearch,
    component: lazyScreen(() => import('./features/approvals/ApprovalsPage.tsx'), 'ApprovalsPage'),
  }),
  createRoute({
    ...needing(reads('rollouts')),
    path: paths.policies,
    validateSearch: policiesSearch,
    component: lazyScreen(() => import('./features/policies/PoliciesPage.tsx'), 'PoliciesPage'),
  }),
  createRoute({
    ...needing(reads('releases')),
    path: paths.release,
    validateSearch: releaseSearch,
    component: lazyScreen(() => import('./features/rollouts/ReleasePage.tsx'), 'ReleasePage'),
  }),
  createRoute({
    ...needing(reads('releases')),
    path: paths.machines,
    validateSearch: machinesSearch,
    component: lazyScreen(() => import('./features/machines/MachinesPage.tsx'), 'MachinesPage'),
  }),
  createRoute({
    ...needing(reads('releases')),
    path: paths.machine,
    validateSearch: machineSearch,
    component: lazyScreen(() => import('./features/machines/MachinePage.tsx'), 'MachinePage'),
  }),
  createRoute({
    ...needing(reads('audit')),
    path: paths.audit,
    validateSearch: auditSearch,
    component: lazyScreen(() => import('./features/audit/AuditPage.tsx'), 'AuditPage'),
  }),
  createRoute({
    ...needing(reads('api_keys')),
    path: paths.apiKeys,
    validateSearch: apiKeysSearch,
    component: lazyScreen(() => import('./features/api-keys/ApiKeysPage.tsx'), 'ApiKeysPage'),
  }),
  createRoute({
    ...needing(reads('users')),
    path: paths.users,
    validateSearch: usersSearch,
    component: lazyScreen(() => import('./features/users/UsersPage.tsx'), 'UsersPage'),
  }),
  createRoute({
    ...needing([]),
    path: paths.account,
    component: lazyScreen(() => import('./features/account/AccountPage.tsx'), 'AccountPage'),
  }),
  createRoute({
    ...needing([]),
    path: '$',
    component: lazyScreen(() => import('./shell/NotFound.tsx'), 'NotFound'),
  }),
] as const;

const routeTree = root.addChildren([login, signedIn.addChildren(screens)]);

/** What the command palette searches in addition to pages; loaded when the palette is opened. */
registerPaletteSource(() => import('./features/licenses/licenses-palette.ts'));
registerPaletteSource(() => import('./features/customers/customers-palette.ts'));
registerPaletteSource(() => import('./features/releases/releases-palette.ts'));
registerPaletteSource(() => import('./features/approvals/approvals-palette.ts'));
registerPaletteSource(() => import('./features/machines/machines-palette.ts'));
registerPaletteSource(() => import('./features/api-keys/api-keys-palette.ts'));
registerPaletteSource(() => import('./features/users/users-palette.ts'));
registerPaletteSource(() => import('./features/views/views-palette.ts'));

export const router = createRouter({
  routeTree,
  defaultPreload: 'intent',
  defaultErrorComponent: ErrorScreen,
  scrollRestoration: true,
  scrollToTopSelectors: ['[data-scroll-restoration-id]'],
  // Plain query strings: `?page=2&search=12` rather than JSON values in quotes.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
    const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
    return text ? `?${text}` : '';
  },
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
  interface StaticDataRouteOption {
    /** Without them the screen is not rendered, so that none of its calls is made. */
    needs: Needs;
  }
}
