import { hasPermission, permit, type Permission, type Resource } from '../contract/permissions.ts';
import type { ConsoleRoute } from '../contract/route.ts';
import { isChange } from './is-change.ts';
import { lackedBy } from './permission-checks.ts';
import { createStore, type Store } from './ui/store.ts';

/**
 * Preview of the console as another role: kept in memory only, so that a reload ends it. It shows what that role may
 * see, and nothing can be changed. The server still uses the user's own permissions.
 */
export type RolePreview = {
  role: string;
  /** Name of the role in the banner. */
  label: string;
  permissions: readonly Permission[];
};

const store = createStore<RolePreview | null>(null);
export const rolePreview: Store<RolePreview | null> = store;

/** Starts the preview of a role; null ends it. */
export function setRolePreview(preview: RolePreview | null): void {
  if (store.get() !== preview) store.set(preview);
}

type Reads = (resource: Resource) => boolean;

/**
 * An answer as users of the previewed role get it; unchanged outside of a preview. `shown` leaves out what the server
 * leaves out for callers who may not read a resource, since it answers for the user. Queries are reset with the preview,
 * so it may be their `select`.
 */
export const asPreviewed =
  <Answer>(shown: (answer: Answer, reads: Reads) => Answer) =>
  (answer: Answer): Answer => {
    const current = store.get();
    if (!current) return answer;
    return shown(answer, (resource) => hasPermission(current.permissions, permit(resource, 'read')));
  };

/** Why a call is not made during the preview: every change, and what the role may not read. */
export function refusedByPreview(route: ConsoleRoute): string | undefined {
  const { access } = route;
  const current = store.get();
  // Signing out, and renewing the session.
  if (!current || access.kind === 'public') return undefined;
  if (isChange(route))
    return `You see the console as ${current.label}. Nothing can be changed: choose Exit first.`;
  const lacking = lackedBy(current.permissions, access);
  return lacking && `${current.label} lacks the permission ${lacking}.`;
}
