import { z } from 'zod';
import { namedObject } from './common.ts';
import { permit } from './permissions.ts';
import { route, staffWithAny } from './route.ts';

/** A module that a license can hold (spec part 1, section 3). */
export const module = namedObject('Module', {
  moduleId: z.string(),
  name: z.string(),
  description: z.string(),
  metadata: z.object({ category: z.string().optional() }),
});

export type Module = z.output<typeof module>;

export const modules = {
  list: route('GET', '/api/modules', {
    summary: 'All modules that a license can hold',
    // who may only issue licenses chooses from them, too
    access: staffWithAny(permit('licenses', 'read'), permit('licenses', 'create')),
    answer: z.array(module),
  }),
};
