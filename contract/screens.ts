import type { Resource } from './permissions.ts';

/** The screens that `/` can open, with the resource whose read permission each needs; null: none. */
export const screens = {
  today: null,
  licenses: 'licenses',
  customers: 'customers',
  analytics: 'analytics',
  releases: 'releases',
  machines: 'releases',
  users: 'users',
  audit: 'audit',
  api_keys: 'api_keys',
} as const satisfies Record<string, Resource | null>;

export type Screen = keyof typeof screens;
export const screenNames = Object.keys(screens) as [Screen, ...Screen[]];
