import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Release } from '../../../contract/releases.ts';
import type { RouteInput } from '../../../contract/route.ts';
import type { uploads as calls } from '../../../contract/uploads.ts';
import { storeBlockmap } from '../../binaries/blockmap.ts';
import type { Caller } from '../../caller.ts';
import { runChange, systemChange } from '../../change.ts';
import type { Context } from '../../context.ts';
import { refuseEnded } from '../../ended-caller.ts';
import { fail, isFailure, type Failure } from '../../failure.ts';
import { createRelease, getRelease, refuseNew } from '../releases/index.ts';
import { notUnfinished } from '../../storage/storage.ts';
import { checkFindings, toBuild } from './build.ts';
import { acceptedKindOf, wantedOf } from '../../binaries/file-kind.ts';
import type { IncrementalHash } from './incremental-hash.ts';
import type { Findings } from '../../binaries/inspect-worker.ts';
import type { Inspector } from '../../binaries/inspect.ts';
import { startOver } from './start-over.ts';
import {
  beingCompleted,
  cancelled,
  isClaimed,
  leaseMs,
  lockUpload,
  notFound,
  refuseOther,
  storedChunks,
  toUploadRecord,
  unfinishedOf,
  type UploadRow,
} from './upload-row.ts';

type CompleteInput = RouteInput<typeof calls.complete>['body'];
type CompleteContext = Context & { incrementalHash: IncrementalHash; inspector: Inspector };

const otherValues = fail(
  'WRONG_STATE',
  'This upload is complete, with other values than these. Edit its release instead.',
);

const pollMs = 200;

/**
 * Turns a chunked upload into a release when its size, hash and kind are right. May be repeated at any time, also
 * concurrently, after a crash, and on another process: one call does the work, and all return the same release, however
 * long it takes, unless their connection `isGone` before. With other values than those it became a release with, a
 * complete upload is WRONG_STATE: a corrected percentage would otherwise seem to be published.
 */
export async function completeUpload(
  context: CompleteContext,
  by: Caller,
  input: CompleteInput,
  isGone: () => boolean,
): Promise<Release | Failure> {
  const denied = await refuseNew(context.db, by, input);
  if (denied) return denied;
  for (;;) {
    const made = await attempt(context, by, input);
    if (made !== beingCompleted || isGone()) return made;
    await sleep(pollMs);
  }
}

/** The release, or why there is none; `beingCompleted` while another call is at it. */
async function attempt(
  context: CompleteContext,
  by: Caller,
  input: CompleteInput,
): Promise<Release | Failure> {
  const upload = await claim(context, by, input);
  if (isFailure(upload)) return upload;
  if (upload.status !== 'completed') return carryOut(context, by, input, upload);
  // null: completed by a version that did not keep it
  if ((upload.completed_with ?? digestOf(input)) !== digestOf(input)) return otherValues;
  return getRelease(context.db, upload.release_id);
}

const digestOf = (input: CompleteInput) => createHash('sha256').update(JSON.stringify(input)).digest('hex');

/** The upload, completed or under our claim, or why it cannot be claimed. A claimed upload accepts no chunks. */
async function claim(
  context: CompleteContext,
  by: Caller,
  input: CompleteInput,
): Promise<UploadRow | Failure> {
  return systemChange(context, context.clock(), async ({ tx, now }) => {
    const upload = await lockUpload(tx, input.uploadId);
    if (!upload || upload.file_key !== input.fileKey) return notFound;
    const refused = refuseOther(by, upload);
    if (refused) return refused;
    if (upload.status === 'completed') return upload;
    if (upload.status === 'cancelled') return cancelled;
    if (isClaimed(upload, now)) return beingCompleted;
    return tx
      .updateTable('uploads')
      .set({ claim: randomUUID(), claimed_at: now, updated_at: now })
      .where('upload_id', '=', upload.upload_id)
      .returningAll()
      .executeTakeFirstOrThrow();
  });
}

async function carryOut(
  context: CompleteContext,
  by: Caller,
  input: CompleteInput,
  upload: UploadRow,
): Promise<Release | Failure> {
  const { clock, log } = context;
  const claimIs = (set: { claim?: null; claimed_at: Date | null }, otherwise: string) =>
    systemChange(context, clock(), ({ tx }) =>
      tx
        .updateTable('uploads')
        .set(set)
        .where('upload_id', '=', upload.upload_id)
        .where('claim', '=', upload.claim)
        .execute(),
    ).catch((error: unknown) => log.warn({ err: error }, otherwise));
  const renewing = setInterval(
    () => void claimIs({ claimed_at: clock() }, 'The claim on an upload was not renewed'),
    leaseMs / 3,
  ).unref();
  try {
    return await checkAndRelease(context, by, input, upload);
  } finally {
    clearInterval(renewing);
    await claimIs({ claim: null, claimed_at: null }, 'The claim on an upload was not given back');
  }
}

async function checkAndRelease(
  context: CompleteContext,
  by: Caller,
  input: CompleteInput,
  upload: UploadRow,
): Promise<Release | Failure> {
  const tags = await checkChunks(context, input, upload);
  if (isFailure(tags)) return tags;
  const findings = await inspect(context, upload, tags);
  if (isFailure(findings)) return findings;
  const expected = { size: upload.file_size, sha512: input.sha512 };
  const wrong = checkFindings(acceptedKindOf(upload.file_name), expected, findings);
  if (wrong) return wrong;
  const stored =
    (await finish(context, upload, tags)) ??
    (await storeBlockmap(context.storage, upload.file_key, findings));
  if (isFailure(stored)) return stored;
  return becomeRelease(context, by, input, upload, findings);
}

/** The storage's tags of all chunks, in order. */
async function checkChunks(
  { db, clock }: CompleteContext,
  input: CompleteInput,
  upload: UploadRow,
): Promise<string[] | Failure> {
  const total = upload.total_chunks;
  if (input.totalChunks !== total)
    return fail('RULE_VIOLATED', `This upload has ${total} chunks, not ${input.totalChunks}.`);
  const stored = await storedChunks(db, upload.upload_id);
  if (stored.length === total) return stored.map((chunk) => chunk.etag);
  const received = new Set(stored.map((chunk) => chunk.index));
  const missing = Array.from({ length: total }, (_, index) => index).filter((index) => !received.has(index));
  const claims = await db
    .selectFrom('upload_chunks')
    .select(['claim', 'claimed_at'])
    .where('upload_id', '=', upload.upload_id)
    .where('done_at', 'is', null)
    .execute();
  const shown = missing.slice(0, 10).join(', ') + (missing.length > 10 ? ', …' : '');
  const sentence = `${missing.length} of ${total} chunks are missing: ${shown}.`;
  return claims.some((row) => isClaimed(row, clock()))
    ? fail('WRONG_STATE', `${sentence} Some are still being sent.`)
    : fail('RULE_VIOLATED', sentence);
}

/** Inspects all bytes: before finishing if they are in a file; a bucket can only be read afterwards. */
async function inspect(
  context: CompleteContext,
  upload: UploadRow,
  tags: readonly string[],
): Promise<Findings | Failure> {
  const { storage, incrementalHash, inspector } = context;
  if (storage.fileOf) {
    const isThere = (await storage.fileOf(unfinishedOf(upload))) !== undefined;
    return isThere ? incrementalHash.conclude(upload, tags) : startOver(context, upload);
  }
  const unfinished = await finish(context, upload, tags);
  if (unfinished) return unfinished;
  const bytes = await storage.read(upload.file_key);
  if (!bytes) throw new Error(`${upload.file_key} is not in the storage`);
  const inspection = inspector.begin(wantedOf(acceptedKindOf(upload.file_name)));
  try {
    for await (const piece of bytes as AsyncIterable<Buffer>) await inspection.addBytes(piece);
    return await inspection.finish();
  } finally {
    inspection.drop();
  }
}

async function finish(context: CompleteContext, upload: UploadRow, tags: readonly string[]) {
  const failed = await context.storage.finish(unfinishedOf(upload), tags);
  return failed === notUnfinished ? startOver(context, upload) : failed;
}

/** Writes the release, the end of the upload and both audit entries, all or none. */
async function becomeRelease(
  context: CompleteContext,
  by: Caller,
  input: CompleteInput,
  upload: UploadRow,
  findings: Findings,
): Promise<Release | Failure> {
  const file = { name: upload.file_name, key: upload.file_key };
  const build = { ...(await toBuild(context.storage, file, findings, input)), releaseId: upload.release_id };
  const release = await runChange(context, by, async (change) => {
    const { tx, now } = change;
    const locked = await lockUpload(tx, upload.upload_id);
    if (locked?.claim !== upload.claim || locked?.status !== 'open') return beingCompleted;
    const made = (await refuseEnded(tx, by.actor, context)) ?? (await createRelease(change, build));
    if (isFailure(made)) return made;
    await tx
      .updateTable('uploads')
      .set({
        status: 'completed',
        completed_with: digestOf(input),
        claim: null,
        claimed_at: null,
        updated_at: now,
      })
      .where('upload_id', '=', upload.upload_id)
      .execute();
    // the version may have been corrected since the upload was prepared
    await change.audit('upload.completed', toUploadRecord({ ...upload, version: input.version }), {
      after: { releaseId: made.id, fileName: upload.file_name, fileSize: upload.file_size },
    });
    return made;
  });
  if (!isFailure(release)) context.incrementalHash.drop(upload.upload_id);
  return release;
}
