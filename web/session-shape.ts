import type { Permission } from '../contract/permissions.ts';
import type { SessionUser } from '../contract/session.ts';

/*
 * Storage may hold anything: an earlier version wrote it, or a hand. The shapes are checked here and not by the schemas
 * of the contract, which the sign-in screen does not load.
 */

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A person whose fields are text; what is missing is empty, and what is something else is no person. */
export function userOf(value: unknown): SessionUser | undefined {
  if (!isObject(value)) return undefined;
  const { userId, email, name } = value;
  const [id, address, called] = [userId, email, name].map((field) => field ?? '');
  if (typeof id !== 'string' || typeof address !== 'string' || typeof called !== 'string') return undefined;
  return { userId: id, email: address, name: called };
}

/** Of `permissions`. */
export const isPermission = (value: unknown): value is Permission =>
  isObject(value) && typeof value['resource'] === 'string' && typeof value['action'] === 'string';

/** Of `roles`. */
export const isRole = (value: unknown): value is { name: string } =>
  isObject(value) && typeof value['name'] === 'string';

/** The list when each of its entries is one; one that is not may be any list, and permits nothing. */
export const listOf = <T>(value: unknown, isEntry: (entry: unknown) => entry is T): T[] =>
  Array.isArray(value) && value.every(isEntry) ? value : [];
