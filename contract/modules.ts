import { z } from 'zod';
import { route, staffWith } from './route.ts';

/** A module that a license can hold (spec part 1, section 3). */
export const module = z
  .object({
    moduleId: z.string(),
    name: z.string(),
    description: z.string(),
    metadata: z.object({ category: z.string().optional() }),
  })
  .meta({ id: 'Module' });

export type Module = z.output<typeof module>;

/** The display name of a module: `mod_lung_nodule` becomes `Lung Nodule`. */
export function moduleLabel(moduleId: string): string {
  return moduleId
    .replace(/^mod_/, '')
    .split('_')
    .filter(Boolean)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase())
    .join(' ');
}

export const modules = {
  list: route({
    method: 'GET',
    path: '/api/modules',
    summary: 'All modules that a license can hold',
    access: staffWith('licenses', 'read'),
    answer: z.array(module),
  }),
};
