import { downloads as calls } from '../../../contract/downloads.ts';
import type { Inspector } from '../../binaries/inspect.ts';
import type { Context } from '../../context.ts';
import { implement } from '../../http/call.ts';
import type { ReleaseSet } from '../releases/index.ts';
import { machineOf, type UpdateRecorder } from '../update-events/index.ts';
import { sendFile } from './downloads.ts';
import { createFileCheck } from './stored-file.ts';

export function downloadRoutes(
  context: Context & { releases: ReleaseSet; recorder: UpdateRecorder; inspector: Inspector },
) {
  const parts = { ...context, checkFile: createFileCheck(context) };
  return implement(calls, {
    file: ({ by, params, query, http }) =>
      sendFile(parts, by, params, { ...http, machineHash: machineOf(by, http.request, query) }),
  });
}
