import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Module } from '../../../contract/modules.ts';
import { groupModules, searchGroups, withModules } from './module-groups.ts';

const module = (moduleId: string, category?: string): Module => ({
  moduleId,
  name: moduleId,
  description: `About ${moduleId}`,
  metadata: category === undefined ? {} : { category },
});

describe('groupModules', () => {
  it('puts oncology first, then chronic_diseases, then the rest by alphabet, with Other for those without', () => {
    const groups = groupModules([
      module('mod_dose', 'radiology'),
      module('mod_plain'),
      module('mod_cytology', 'pathology'),
      module('mod_copd', 'chronic_diseases'),
      module('mod_heart', 'cardiology'),
      module('mod_lung', 'oncology'),
      module('mod_blank', ' '),
    ]);
    expect(groups.map((group) => group.title)).toEqual([
      'Oncology',
      'Chronic Diseases',
      'Cardiology',
      'Other',
      'Pathology',
      'Radiology',
    ]);
    expect(groups[3]!.modules.map((m) => m.moduleId)).toEqual(['mod_plain', 'mod_blank']);
  });

  it('loses and repeats no module', () => {
    const modules = fc.uniqueArray(
      fc.record({
        id: fc.stringMatching(/^mod_[a-z]{1,8}$/),
        category: fc.option(fc.constantFrom('oncology', 'a', 'z', '')),
      }),
      { selector: (m) => m.id },
    );
    fc.assert(
      fc.property(modules, (list) => {
        const grouped = groupModules(list.map((m) => module(m.id, m.category ?? undefined)));
        expect(grouped.flatMap((g) => g.modules.map((m) => m.moduleId)).toSorted()).toEqual(
          list.map((m) => m.id).toSorted(),
        );
      }),
    );
  });
});

describe('searchGroups', () => {
  const groups = groupModules([
    module('mod_lung_nodule', 'oncology'),
    module('mod_copd', 'chronic_diseases'),
  ]);

  it('finds by label, by description and by category, and leaves empty groups out', () => {
    expect(searchGroups(groups, 'lung nod').map((g) => g.title)).toEqual(['Oncology']);
    expect(searchGroups(groups, 'about mod_copd').map((g) => g.title)).toEqual(['Chronic Diseases']);
    expect(searchGroups(groups, 'chronic').map((g) => g.title)).toEqual(['Chronic Diseases']);
    expect(searchGroups(groups, 'nothing')).toEqual([]);
    expect(searchGroups(groups, ' ')).toEqual(groups);
  });
});

describe('withModules', () => {
  it('adds behind what is there and takes away only what is named', () => {
    expect(withModules(['b', 'a'], ['a', 'c'], true)).toEqual(['b', 'a', 'c']);
    expect(withModules(['b', 'a', 'c'], ['a', 'x'], false)).toEqual(['b', 'c']);
  });
});
