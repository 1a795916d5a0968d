import { normalizeModuleIds } from '../contract/module-ids.ts';
import { isObject } from './is-object.ts';

/*
 * Normalizes the response shapes that the spec allows to those of the contract: lists may come without `data`, and the
 * modules of a license in five forms (spec part 1, sections 3 and 7).
 */

/** The `data` property, else the whole body; null when it is empty. */
export const dataOf = (body: unknown): unknown =>
  withModuleIds(isObject(body) && 'data' in body ? body['data'] : body);

/** The same for a list, with its `meta`: without one, the total is its length. */
export function listOf(body: unknown): { data: unknown[]; meta: unknown } {
  const found = dataOf(body);
  const data = Array.isArray(found) ? found : [];
  const meta = isObject(body) ? body['meta'] : undefined;
  return { data, meta: { limit: null, offset: 0, total: data.length, ...(isObject(meta) ? meta : {}) } };
}

/** Licenses, including those of customers, with `moduleIds` as a list. */
function withModuleIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withModuleIds);
  if (!isObject(value)) return value;
  if (Array.isArray(value['licenses'])) return { ...value, licenses: withModuleIds(value['licenses']) };
  if (!('licenseId' in value) || !('moduleIds' in value || 'modules' in value)) return value;
  const { modules, ...license } = value;
  const ids = normalizeModuleIds(license['moduleIds'] ?? modules);
  return { ...license, moduleIds: Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [] };
}
