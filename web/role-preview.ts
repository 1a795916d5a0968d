import type { Permission } from '../contract/permissions.ts';
import type { Access } from '../contract/route.ts';
import { lackedBy } from './permission-checks.ts';
import { createStore, type Store } from './ui/store.ts';

/**
 * The console as another role shows it: kept in memory only, so that a reload ends it. What may be seen is then what
 * that role may see, and nothing can be changed. The server goes on knowing the person by their own rights.
 */
export type RolePreview = {
  role: string;
  /** What the banner calls the role. */
  label: string;
  permissions: readonly Permission[];
};

const store = createStore<RolePreview | null>(null);
export const rolePreview: Store<RolePreview | null> = store;

/** Begins to look at the console as a role; null ends it. */
export function setRolePreview(preview: RolePreview | null): void {
  if (store.get() !== preview) store.set(preview);
}

/** Why a call is not made while the preview is on: every change, and what the role may not read. */
export function refusedByPreview({ method, access }: { method: string; access: Access }): string | undefined {
  const current = store.get();
  // Signing out, and keeping the session alive.
  if (!current || access.kind === 'public') return undefined;
  if (method !== 'GET')
    return `You see the console as ${current.label}. Nothing can be changed: choose Exit first.`;
  const lacking = lackedBy(current.permissions, access);
  return lacking && `${current.label} lacks the permission ${lacking}.`;
}
