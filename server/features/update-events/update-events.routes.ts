import { updateEvents as calls } from '../../../contract/update-events.ts';
import type { Context } from '../../context.ts';
import { implement } from '../../http/call.ts';
import { reportEvents, type UpdateRecorder } from './update-events.ts';

export const updateEventRoutes = (context: Pick<Context, 'clock'> & { recorder: UpdateRecorder }) =>
  implement(calls, {
    report: ({ by, body }) => reportEvents(context, by, body.events),
  });
