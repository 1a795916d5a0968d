import { capitalize } from './text.ts';

export const resources = [
  'users',
  'licenses',
  'customers',
  'audit',
  'analytics',
  'releases',
  'rollouts',
  'api_keys',
] as const;
export const actions = ['read', 'create', 'update', 'delete', 'export'] as const;

export type Resource = (typeof resources)[number];
export type Action = (typeof actions)[number];

/** A permission in requests and responses (spec part 1, section 6). */
export type Permission = { resource: Resource; action: Action };

export const permit = (resource: Resource, action: Action): Permission => ({ resource, action });

/** The name of a permission: `licenses:update`. */
export const permissionName = ({ resource, action }: Permission): string => `${resource}:${action}`;

export const roleNames = [
  'super_admin',
  'admin',
  'license_manager',
  'binary_manager',
  'support_agent',
  'viewer',
  'service_account',
] as const;

export type RoleName = (typeof roleNames)[number];

/** Exact texts of spec part 2, section 3. */
export const roleDescriptions: Record<RoleName, string> = {
  super_admin: 'complete system control and configuration',
  admin: 'day-to-day system management',
  license_manager: 'licence operations without customer management',
  binary_manager: 'manage application updates and releases',
  support_agent: 'customer support operations',
  viewer: 'read-only access for stakeholders',
  service_account: 'API-only access for desktop applications',
};

/** The display name of `license_manager`: License Manager (spec part 2, section 2.8). */
export const roleLabel = (name: string): string => name.split('_').filter(Boolean).map(capitalize).join(' ');

/** All actions of each resource: the cells of the matrix. */
export const resourceActions: Record<Resource, readonly Action[]> = {
  users: ['read', 'create', 'update', 'delete'],
  licenses: ['read', 'create', 'update', 'delete'],
  customers: ['read', 'create', 'update', 'delete'],
  audit: ['read', 'export', 'update', 'delete'],
  analytics: ['read', 'export'],
  releases: ['read', 'create', 'update', 'delete'],
  rollouts: ['read', 'create', 'update', 'delete'],
  api_keys: ['read', 'create', 'update', 'delete'],
};

const all = (resource: Resource): Permission[] => some(resource, ...resourceActions[resource]);
const some = (resource: Resource, ...allowed: Action[]): Permission[] =>
  allowed.map((action) => permit(resource, action));
const everything = resources.flatMap(all);

/** The default permissions of each role. They seed the matrix in the database, which is authoritative afterwards. */
export const roleMatrix: Record<RoleName, readonly Permission[]> = {
  super_admin: everything,
  admin: everything.filter((p) => !(p.resource === 'users' && p.action === 'delete')),
  license_manager: [
    ...all('licenses'),
    ...some('customers', 'read'),
    ...some('analytics', 'read'),
    ...some('releases', 'read'),
  ],
  binary_manager: [...all('releases'), ...all('rollouts'), ...some('analytics', 'read')],
  support_agent: [
    ...some('customers', 'read', 'update'),
    ...some('licenses', 'read', 'update'),
    ...some('releases', 'read'),
    ...some('analytics', 'read'),
    ...some('audit', 'read'),
  ],
  viewer: [
    ...some('customers', 'read'),
    ...some('licenses', 'read'),
    ...some('releases', 'read'),
    ...some('analytics', 'read'),
  ],
  service_account: [],
};

/** True when `held` contains the permission. */
export const hasPermission = (held: readonly Permission[], { resource, action }: Permission): boolean =>
  held.some((p) => p.resource === resource && p.action === action);

/** The permissions that something needs: one of each inner list. */
export type Needs = readonly (readonly Permission[])[];

/** What of `needs` is missing from `held`, as text: `rollouts:create or rollouts:update`. */
export const lackedOf = (held: readonly Permission[], needs: Needs): string[] =>
  needs
    .filter((ways) => !ways.some((p) => hasPermission(held, p)))
    .map((ways) => ways.map(permissionName).join(' or '));

/** Whether a person who holds these permissions may see what needs `needs`. */
export const maySee = (needs: Needs, held: readonly Permission[]): boolean =>
  lackedOf(held, needs).length === 0;

/** What a list or a page needs that shows nothing else. */
export const reads = (resource: Resource): Needs => [[permit(resource, 'read')]];

/** Change requests are also seen by all who may ask for one, or approve it. */
export const seesApprovals: Needs = [some('rollouts', 'read', 'create', 'update')];

/** What a stolen session could do through a second account alone; each right of a line is enough for it. */
const asAnother: readonly (readonly Permission[])[] = [
  // sign in as any user, by a new password
  some('users', 'update'),
  // approve what the first account asks for
  some('rollouts', 'create', 'update'),
];

/** Whether a grant of `after` to who had `before` is refused unless the caller proves to be the user. */
export const needsProof = (before: readonly Permission[], after: readonly Permission[]): boolean =>
  asAnother.some((rights) => {
    const may = (held: readonly Permission[]) => rights.some((right) => hasPermission(held, right));
    return may(after) && !may(before);
  });
