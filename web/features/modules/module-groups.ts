import { moduleLabel } from '../../../contract/module-ids.ts';
import type { Module } from '../../../contract/modules.ts';
import { compareTexts } from '../../ui/locale.ts';

export type ModuleGroup = { category: string; title: string; modules: Module[] };

const noCategory = 'Other';
/** Listed before all other categories, in this order (spec part 1, section 9). */
const leading = ['oncology', 'chronic_diseases'];

/** Modules by category: oncology, chronic_diseases, then alphabetical; modules without a category under Other. */
export function groupModules(modules: readonly Module[]): ModuleGroup[] {
  const groups = new Map<string, Module[]>();
  for (const module of modules) {
    const category = module.metadata.category?.trim() || noCategory;
    groups.set(category, [...(groups.get(category) ?? []), module]);
  }
  return [...groups]
    .map(([category, members]) => ({ category, title: moduleLabel(category), modules: members }))
    .toSorted((a, b) => rank(a.category) - rank(b.category) || compareTexts(a.title, b.title));
}

function rank(category: string): number {
  const place = leading.indexOf(category);
  return place < 0 ? leading.length : place;
}

/** The groups with only the modules whose label, description or category contains `text`. */
export function searchGroups(groups: readonly ModuleGroup[], text: string): ModuleGroup[] {
  const wanted = text.trim().toLowerCase();
  const holds = (...texts: string[]) => texts.some((one) => one.toLowerCase().includes(wanted));
  return groups
    .map((group) => ({
      ...group,
      modules: group.modules.filter((m) => holds(group.title, moduleLabel(m.moduleId), m.description)),
    }))
    .filter((group) => group.modules.length > 0);
}

/** `selected` with all of `ids` or none of them. The others keep their position: their order is part of the license. */
export function withModules(selected: readonly string[], ids: readonly string[], chosen: boolean): string[] {
  const rest = chosen ? selected : selected.filter((id) => !ids.includes(id));
  return chosen ? [...new Set([...rest, ...ids])] : rest.slice();
}
