import { z } from 'zod';
import { dateTime, instant, namedObject } from './common.ts';
import { route, staffWith } from './route.ts';

const canConfirm = staffWith('audit', 'delete');

/** The clock of the responding process, compared with the newest time that the database has seen. */
export const clockState = namedObject('ClockState', {
  now: dateTime,
  newest: dateTime.nullable().meta({
    description: 'Null when the clock is plausible; otherwise the newest time that the database has seen',
  }),
  releasesDue: z
    .number()
    .meta({ description: 'Releases in the recycle bin that are due for permanent deletion' }),
});
export type ClockState = z.output<typeof clockState>;

export const clock = {
  state: route('GET', '/api/v1/clock', {
    summary: 'Whether deletions are on hold because the clock jumped',
    access: canConfirm,
    answer: clockState,
  }),
  confirm: route('POST', '/api/v1/clock/confirm', {
    summary: 'Confirm that the clock is right and resume deletions',
    access: canConfirm,
    body: z.strictObject({
      now: instant.meta({ description: 'The time that was shown to the user, who confirms it' }),
    }),
    answer: clockState,
    errors: ['WRONG_STATE'],
  }),
};
