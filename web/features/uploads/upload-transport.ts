import type { BuildInput } from '../../../contract/builds.ts';
import { directForm } from '../../../contract/direct-form.ts';
import type { Release } from '../../../contract/releases.ts';
import type { ConsoleRoute } from '../../../contract/route.ts';
import { uploads, type UploadState } from '../../../contract/uploads.ts';
import { ApiError, errorOf } from '../../api-error.ts';
import type { publishPayload } from '../../release-form.ts';
import { refuseUnpermitted, urlOf, withSession } from '../../api.ts';
import { parsedJson } from '../../../contract/text.ts';

/** The fields of a build that are sent with its file. With a plan, the percentage is 100. */
export type BuildFields = ReturnType<typeof publishPayload> &
  Pick<BuildInput, 'version' | 'platform' | 'architecture' | 'rolloutPercentage'> &
  Partial<Pick<BuildInput, 'rolloutPlan' | 'startsAt'>>;

export type PreparedUpload = Pick<UploadState, 'uploadId' | 'fileKey' | 'chunkSize' | 'totalChunks'>;
export type NamedFile = { blob: Blob; name: string };
type Under = { signal: AbortSignal; onSent?: (bytes: number) => void };

/** Spec part 2, section 8. */
const tooLargeForOneRequest =
  'File too large. Files over 20MB require chunked upload. The upload will switch automatically.';

export type Transport = {
  direct: (file: NamedFile, fields: BuildFields, sha512: string, under: Under) => Promise<Release>;
  prepare: (file: NamedFile, fields: BuildFields, under: Under) => Promise<PreparedUpload>;
  chunk: (uploadId: string, index: number, body: Blob, under: Under) => Promise<void>;
  complete: (prepared: PreparedUpload, fields: BuildFields, sha512: string, under: Under) => Promise<Release>;
  state: (uploadId: string, under: Under) => Promise<UploadState>;
  cancel: (uploadId: string) => Promise<void>;
};

/** The calls of spec part 2, section 7 (binary upload), with its errors. */
export const transport: Transport = {
  async direct({ blob, name }, fields, sha512, under) {
    refuseUnpermitted(uploads.direct);
    try {
      const form = directForm(blob, name, fields, sha512);
      return await send<Release>(uploads.direct, uploads.direct.path, form, under);
    } catch (error) {
      if (error instanceof ApiError && error.status === 413) throw new ApiError(413, tooLargeForOneRequest);
      throw error;
    }
  },
  async prepare({ blob, name }, { version, channel, platform, architecture }, under) {
    refuseUnpermitted(uploads.prepare);
    const body = { fileName: name, fileSize: blob.size, version, channel, platform, architecture };
    return send(uploads.prepare, uploads.prepare.path, JSON.stringify(body), under);
  },
  async chunk(uploadId, index, body, under) {
    const params = { uploadId, index: String(index) };
    await send(uploads.chunk, urlOf(uploads.chunk, { params }), body, under);
  },
  complete: ({ uploadId, fileKey, totalChunks }, fields, sha512, under) => {
    const body = { uploadId, fileKey, totalChunks, sha512, ...fields };
    return send(uploads.complete, uploads.complete.path, JSON.stringify(body), under);
  },
  state: (uploadId, under) =>
    send(uploads.state, urlOf(uploads.state, { params: { uploadId } }), null, under),
  async cancel(uploadId) {
    const signal = AbortSignal.timeout(30_000);
    await send(uploads.cancel, urlOf(uploads.cancel, { params: { uploadId } }), null, { signal });
  },
};

/** Makes a call and reads its data: the `data` property, else the whole body. */
async function send<T>(
  route: ConsoleRoute,
  url: string,
  body: Blob | FormData | string | null,
  under: Under,
) {
  const { status, text } = await withSession((token) => sendOnce(route.method, url, token, body, under));
  if (status < 200 || status > 299) throw errorOf(status, text, `Upload failed with status ${status}`);
  if (status === 204) return undefined as T;
  const parsed = parsedJson(text);
  if (typeof parsed !== 'object' || parsed === null) throw new ApiError(status, 'Invalid response format');
  return ('data' in parsed ? parsed.data : parsed) as T;
}

/** XMLHttpRequest, because `fetch` does not report upload progress. */
function sendOnce(
  method: string,
  url: string,
  token: string | undefined,
  body: Blob | FormData | string | null,
  { signal, onSent }: Under,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const request = new XMLHttpRequest();
    const abort = () => request.abort();
    signal.addEventListener('abort', abort);
    request.addEventListener('loadend', () => signal.removeEventListener('abort', abort));
    request.addEventListener('load', () => resolve({ status: request.status, text: request.responseText }));
    request.addEventListener('error', () => reject(new ApiError(0, 'Network error during upload')));
    request.addEventListener('abort', () => reject(new ApiError(0, 'Upload cancelled')));
    if (onSent) request.upload.addEventListener('progress', (event) => onSent(event.loaded));
    request.open(method, url);
    request.withCredentials = true;
    request.setRequestHeader('Accept', 'application/json');
    if (token) request.setRequestHeader('Authorization', `Bearer ${token}`);
    if (typeof body === 'string') request.setRequestHeader('Content-Type', 'application/json');
    if (body instanceof Blob) request.setRequestHeader('Content-Type', 'application/octet-stream');
    request.send(body);
  });
}
