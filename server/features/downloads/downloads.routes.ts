import { downloads as calls } from '../../../contract/downloads.ts';
import type { Inspector } from '../../binaries/inspect.ts';
import type { Context } from '../../context.ts';
import { implement } from '../../http/call.ts';
import type { ReleaseSet } from '../releases/index.ts';
import { asWritten, machineOf, type UpdateRecorder } from '../update-events/index.ts';
import { sendFile } from './downloads.ts';
import { createFileCheck } from './stored-file.ts';

export function downloadRoutes(
  context: Context & { releases: ReleaseSet; recorder: UpdateRecorder; inspector: Inspector },
) {
  const parts = { ...context, checkFile: createFileCheck(context) };
  return implement(calls, {
    file: async ({ by, params, query, http }) => {
      const machineHash = machineOf(by, http.request, await asWritten(parts.db, query));
      return sendFile(parts, by, params, { ...http, machineHash });
    },
  });
}
