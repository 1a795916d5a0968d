import { updateEvents as calls } from '../../../contract/update-events.ts';
import type { Context } from '../../context.ts';
import { implement } from '../../http/call.ts';
import { reportEvents } from './update-events.ts';
import type { UpdateRecorder } from './update-recorder.ts';

export const updateEventRoutes = (context: Pick<Context, 'clock'> & { recorder: UpdateRecorder }) =>
  implement(calls, {
    report: ({ by, body }) => reportEvents(context, by, body.events),
  });
