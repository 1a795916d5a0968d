import type { Permission } from '../contract/permissions.ts';
import type { SessionUser } from '../contract/session.ts';
import { isObject } from './is-object.ts';

/*
 * Storage may hold anything: it may have been written by an earlier version, or edited. The shapes are checked here and
 * not by the schemas of the contract, which the sign-in screen does not load.
 */

/** A user whose fields are text; missing fields become empty, and a value of another type is rejected. */
export function userOf(value: unknown): SessionUser | undefined {
  if (!isObject(value)) return undefined;
  const { userId, email, name } = value;
  const [id, address, called] = [userId, email, name].map((field) => field ?? '');
  if (typeof id !== 'string' || typeof address !== 'string' || typeof called !== 'string') return undefined;
  return { userId: id, email: address, name: called };
}

/** For `permissions`. */
export const isPermission = (value: unknown): value is Permission =>
  isObject(value) && typeof value['resource'] === 'string' && typeof value['action'] === 'string';

/** For `roles`. */
export const isRole = (value: unknown): value is { name: string } =>
  isObject(value) && typeof value['name'] === 'string';

/** The list when all its entries are valid; otherwise an empty list, which permits nothing. */
export const validEntries = <T>(value: unknown, isEntry: (entry: unknown) => entry is T): T[] =>
  Array.isArray(value) && value.every(isEntry) ? value : [];
