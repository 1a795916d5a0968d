import { uploads as calls } from '../../../contract/uploads.ts';
import type { Inspector } from '../../binaries/inspect.ts';
import type { Context } from '../../context.ts';
import { inChange, inChangeAfter, implement } from '../../http/call.ts';
import type { StorageWatch } from '../../storage/watch.ts';
import { receiveChunk } from './chunk.ts';
import { completeUpload } from './complete.ts';
import { receiveDirect } from './direct.ts';
import { createIncrementalHash } from './incremental-hash.ts';
import { cancelUpload, getUploadState, prepareUpload, removeBytes, reserve } from './uploads.ts';
import { present } from '../../invariants.ts';

export function uploadRoutes(context: Context & { storageWatch: StorageWatch; inspector: Inspector }) {
  const parts = { ...context, incrementalHash: createIncrementalHash(context) };
  return implement(calls, {
    direct: ({ by, stream, http }) => receiveDirect(parts, by, http.request.raw, bodyOf(stream)),
    prepare: inChangeAfter(
      ({ body }) => reserve(context, body),
      (change, { body }, reserved) => prepareUpload(change, body, reserved),
      (reserved) => removeBytes(context, reserved),
    ),
    chunk: ({ by, params, stream, http }) =>
      receiveChunk(parts, by, params, http.request.raw, bodyOf(stream).readable),
    complete: ({ by, body, http }) =>
      completeUpload(parts, by, body, () => http.request.raw.socket.destroyed),
    state: ({ params }) => getUploadState(context.db, params.uploadId),
    cancel: inChange((change, { params }) => cancelUpload(change, context, params.uploadId)),
    storage: async () => ({ usable: await context.storageWatch.isUsable() }),
  });
}

const bodyOf = <Body>(stream: Body) => present(stream, 'the contract gives these calls a bodyKind');
