import { uploads as calls } from '../../../contract/uploads.ts';
import type { Context } from '../../context.ts';
import { change, changeAfter, implement } from '../../http/call.ts';
import type { StorageWatch } from '../../storage/watch.ts';
import type { ReleaseSet } from '../releases/releases.ts';
import { machineOf, type UpdateRecorder } from '../updates/updates.ts';
import { receiveChunk } from './chunk.ts';
import { completeUpload } from './complete.ts';
import { receiveDirect } from './direct.ts';
import { sendFile } from './download.ts';
import { createFollower } from './follow.ts';
import type { Inspector } from './inspect.ts';
import { createFileCheck } from './stored-file.ts';
import { cancelUpload, getUploadState, prepareUpload, reserve } from './uploads.ts';

export function uploadRoutes(
  context: Context & { releases: ReleaseSet; recorder: UpdateRecorder; storageWatch: StorageWatch },
  inspector: Inspector,
) {
  const parts = { ...context, inspector, follower: createFollower(context, inspector) };
  const files = { ...context, checkFile: createFileCheck(parts) };
  return implement(calls, {
    direct: ({ by, stream, http }) => receiveDirect(parts, by, http.request.raw, stream!),
    prepare: changeAfter(
      ({ body }) => reserve(context, body),
      (tx, { by, body }, reserved) => prepareUpload(tx, by, body, reserved),
    ),
    chunk: ({ by, params, stream, http }) =>
      receiveChunk(parts, by, params, http.request.raw, stream!.readable),
    complete: ({ by, body }) => completeUpload(parts, by, body),
    state: ({ params }) => getUploadState(context.db, params.uploadId),
    cancel: change((tx, { by, params }) => cancelUpload(tx, by, context, params.uploadId)),
    storage: async () => ({ usable: await context.storageWatch.isUsable() }),
    download: ({ by, params, query, http }) =>
      sendFile(files, by, params, {
        ...http,
        machineHash: machineOf(http.request, query),
      }),
  });
}
