import { capitalize } from './text.ts';

/**
 * `moduleIds` arrives as a list, as a list whose only element is JSON text, or as JSON text (spec part 1, section 3);
 * all three become a list. Other values are returned unchanged and fail validation.
 */
export function normalizeModuleIds(value: unknown): unknown {
  const inner = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (typeof inner !== 'string') return value;
  if (!inner.trimStart().startsWith('[')) return value;
  try {
    const parsed: unknown = JSON.parse(inner);
    return Array.isArray(parsed) ? parsed : value;
  } catch {
    return value;
  }
}

/** The display name of a module: `mod_lung_nodule` becomes `Lung Nodule`. */
export const moduleLabel = (moduleId: string): string =>
  moduleId.replace(/^mod_/, '').toLowerCase().split('_').filter(Boolean).map(capitalize).join(' ');
