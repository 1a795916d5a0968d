/** Every path of the console (spec part 1, section 2), so that no other file hard-codes one. */
export const paths = {
  home: '/',
  login: '/login',
  licenses: '/licenses',
  newLicense: '/licenses/new',
  customers: '/customers',
  customerTrash: '/customers/trash',
  analytics: '/analytics',
  releases: '/releases',
  releaseTrash: '/releases/trash',
  approvals: '/releases/approvals',
  policies: '/releases/policies',
  release: '/releases/$releaseId',
  machine: '/machines/$machineId',
  users: '/users',
  account: '/account',
  audit: '/audit',
  apiKeys: '/api-keys',
} as const;

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
