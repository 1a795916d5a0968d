import { z } from 'zod';
import { id, integer, namedObject, requiredLine, wholeNumber } from './common.ts';
import { buildFields, checkPlan, largestFile, publishFields, sha512 } from './builds.ts';
import { isFileName, longestFileName, storedExtensions } from './file-names.ts';
import { release } from './releases.ts';
import { apiKeyOrStaffWith, route, staffWith } from './route.ts';

/** Files up to this many bytes go in one request, larger ones in chunks (spec part 2, section 9). */
export const directUploadLimit = 20 * 1024 * 1024;
export const parallelChunks = 6;

/** Whether the same request would be refused again, as on a full disk; not after a timeout or too many requests. */
export const isFinalStatus = (status: number): boolean =>
  status === 507 || (status >= 400 && status < 500 && status !== 408 && status !== 429);

const fileName = requiredLine(longestFileName, 'File name is required').refine(
  isFileName,
  `Must be a file name that ends in ${storedExtensions.join(', ')}`,
);

const mayUpload = apiKeyOrStaffWith('releases', 'releases', 'create');
const byUpload = z.object({ uploadId: id });

const uploadState = namedObject('UploadState', {
  uploadId: z.string(),
  fileKey: z.string(),
  fileName: z.string(),
  fileSize: z.number(),
  chunkSize: z.number(),
  totalChunks: z.number(),
  received: z.array(z.number()).meta({ description: 'Indexes of the stored chunks' }),
  status: z.enum(['open', 'completed']),
  releaseId: z.string().nullable(),
});
export type UploadState = z.output<typeof uploadState>;

export const uploads = {
  direct: route('POST', '/api/v1/binaries/upload', {
    summary:
      'Upload a file of up to 20 MB in one multipart request: file, version, and optionally channel, platform, architecture, release_notes, minimum_app_version, is_mandatory, security, minimum_supported_version, is_draft, rollout_percentage or rollout_plan (JSON) with starts_at, acceptable_failures, sha512',
    access: mayUpload,
    bodyKind: 'multipart',
    answer: release,
    status: 201,
    errors: ['ALREADY_EXISTS', 'RULE_VIOLATED', 'STORAGE_FULL', 'NEEDS_APPROVAL'],
  }),
  prepare: route('POST', '/api/v1/binaries/upload/prepare', {
    summary: 'Start a chunked upload',
    access: mayUpload,
    body: z.strictObject({ fileName, fileSize: integer(1, largestFile), ...buildFields }),
    answer: namedObject('PreparedUpload', {
      uploadId: z.string(),
      fileKey: z.string(),
      chunkSize: z.number(),
      totalChunks: z.number(),
    }),
    status: 201,
    errors: ['ALREADY_EXISTS', 'STORAGE_FULL'],
  }),
  chunk: route('PUT', '/api/v1/binaries/upload/chunk/{uploadId}/{index}', {
    summary: 'Send one chunk; chunks may come in any order and be repeated',
    access: mayUpload,
    params: z.object({ uploadId: id, index: wholeNumber(0, 100_000) }),
    bodyKind: 'bytes',
    answer: z.object({ index: z.number(), received: z.number() }),
    errors: ['WRONG_STATE', 'CHUNKS_LOST', 'RULE_VIOLATED', 'STORAGE_FULL'],
  }),
  complete: route('POST', '/api/v1/binaries/upload/complete', {
    summary: 'Verify size, hash and type of the file and create the release; may be repeated',
    access: mayUpload,
    body: z
      .strictObject({
        uploadId: id,
        fileKey: z.string().max(500),
        totalChunks: z.number().int().min(1),
        sha512,
        ...buildFields,
        ...publishFields,
      })
      .superRefine(checkPlan),
    answer: release,
    status: 201,
    errors: [
      'NOT_FOUND',
      'WRONG_STATE',
      'CHUNKS_LOST',
      'RULE_VIOLATED',
      'ALREADY_EXISTS',
      'STORAGE_FULL',
      'NEEDS_APPROVAL',
    ],
  }),
  state: route('GET', '/api/v1/binaries/upload/{uploadId}', {
    summary: 'Which chunks are stored, to resume an upload',
    access: mayUpload,
    params: byUpload,
    answer: uploadState,
  }),
  cancel: route('DELETE', '/api/v1/binaries/upload/{uploadId}', {
    summary: 'Cancel an upload and delete its stored chunks',
    access: mayUpload,
    params: byUpload,
    errors: ['WRONG_STATE'],
  }),
  storage: route('GET', '/api/v1/binaries/storage', {
    summary: 'Whether the file storage is available',
    access: staffWith('releases', 'read'),
    answer: namedObject('StorageState', { usable: z.boolean() }),
  }),
};
