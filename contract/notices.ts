import { z } from 'zod';
import { changeRequest } from './approvals.ts';
import { clockState } from './clock.ts';
import { namedObject } from './common.ts';
import { release } from './releases.ts';
import { route, signedIn } from './route.ts';

export const notices = {
  list: route('GET', '/api/v1/notices', {
    summary: 'What every screen of the console shows above itself, as far as the caller may see it',
    access: signedIn,
    answer: namedObject('Notices', {
      paused: z.array(release).meta({
        description:
          'Published, active releases whose rollout is paused, the last paused first; none without releases:read',
      }),
      approvals: z.array(changeRequest).meta({
        description: 'Change requests that the caller may approve now, the newest first',
      }),
      storageDown: z.boolean().meta({ description: 'False also for callers without releases:read' }),
      storageForeign: z.string().nullable().meta({
        description:
          'Why the storage is not that of this installation, and what to do; null for callers without audit:delete',
      }),
      clock: clockState.nullable().meta({
        description: 'Set when the clock of the responding process jumped and the caller may confirm it',
      }),
    }),
  }),
};
