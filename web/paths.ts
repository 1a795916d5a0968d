/** Every path of the console (spec part 1, section 2), so that no other file hard-codes one. */
export const paths = {
  home: '/',
  login: '/login',
  today: '/today',
  licenses: '/licenses',
  newLicense: '/licenses/new',
  license: '/licenses/$licenseId',
  customers: '/customers',
  customer: '/customers/$customerId',
  customerTrash: '/customers/trash',
  analytics: '/analytics',
  releases: '/releases',
  releaseTrash: '/releases/trash',
  approvals: '/releases/approvals',
  policies: '/releases/policies',
  release: '/releases/$releaseId',
  machines: '/machines',
  machine: '/machines/$machineId',
  users: '/users',
  account: '/account',
  audit: '/audit',
  apiKeys: '/api-keys',
} as const;

export const customerPath = (id: string): string => paths.customer.replace('$customerId', segment(id));
export const licensePath = (id: string): string => paths.license.replace('$licenseId', segment(id));
export const machinePath = (id: string): string => paths.machine.replace('$machineId', segment(id));
export const releasePath = (id: string): string => paths.release.replace('$releaseId', segment(id));

const segment = (id: string) => encodeURIComponent(id);

/** A same-origin path, else `/`: a link to the sign-in page must not redirect to another site. */
export function safeRedirect(wanted: string | undefined, origin: string): string {
  if (!wanted?.startsWith('/')) return paths.home;
  try {
    const url = new URL(wanted, origin);
    if (url.origin !== origin || url.pathname === paths.login) return paths.home;
    return url.pathname + url.search + url.hash;
  } catch {
    return paths.home;
  }
}
