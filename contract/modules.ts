import { z } from 'zod';
import { capitalize } from './text.ts';
import { namedObject } from './common.ts';
import { route, staffWith } from './route.ts';

/** A module that a license can hold (spec part 1, section 3). */
export const module = namedObject('Module', {
  moduleId: z.string(),
  name: z.string(),
  description: z.string(),
  metadata: z.object({ category: z.string().optional() }),
});

export type Module = z.output<typeof module>;

/** The display name of a module: `mod_lung_nodule` becomes `Lung Nodule`. */
export function moduleLabel(moduleId: string): string {
  return moduleId
    .replace(/^mod_/, '')
    .split('_')
    .filter(Boolean)
    .map((word) => capitalize(word.toLowerCase()))
    .join(' ');
}

export const modules = {
  list: route('GET', '/api/modules', {
    summary: 'All modules that a license can hold',
    access: staffWith('licenses', 'read'),
    answer: z.array(module),
  }),
};
