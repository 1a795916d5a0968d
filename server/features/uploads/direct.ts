import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { BuildInput } from '../../../contract/builds.ts';
import type { Release } from '../../../contract/releases.ts';
import { storeBlockmap } from '../../binaries/blockmap.ts';
import type { Caller } from '../../caller.ts';
import { runChange } from '../../change.ts';
import type { Context } from '../../context.ts';
import { refuseEnded } from '../../ended-caller.ts';
import { isFailure, type Failure } from '../../failure.ts';
import { StorageDown } from '../../storage/storage.ts';
import { createRelease, refuseNew } from '../releases/index.ts';
import { checkFindings, toBuild } from './build.ts';
import { wantedOf } from '../../binaries/file-kind.ts';
import { kindOf, type FileKind } from '../../../contract/file-content.ts';
import { requireOwn } from './ownership.ts';
import { checkForm, largestForm, readForm, tooLarge, type Form, type FormFields } from './form.ts';
import type { Findings } from '../../binaries/inspect-worker.ts';
import type { Inspection, Inspector } from '../../binaries/inspect.ts';
import { blockmapKeyOf, newFileKey } from '../../binaries/storage-key.ts';
import { present } from '../../invariants.ts';

type DirectContext = Context & { inspector: Inspector };
type Body = { readable: Readable; contentType: string };
type Stored = { key: string; kind: FileKind; findings: Findings };

/**
 * Turns one multipart request into a release: the file is stored and hashed while it arrives. The file of a refused
 * form is removed.
 */
export async function receiveDirect(
  context: DirectContext,
  by: Caller,
  request: IncomingMessage,
  body: Body,
): Promise<Release | Failure> {
  if (Number(request.headers['content-length'] ?? 0) > largestForm) return tooLarge;
  const keys: string[] = [];
  let isKept = false;
  try {
    const form = await readForm(body, (bytes, name) => store(context, bytes, name, keys));
    if (isFailure(form)) return form;
    // a commit whose response was lost may have happened: after an error, the file is left to the sweep
    isKept = true;
    const release = await toRelease(context, by, form);
    isKept = !isFailure(release);
    return release;
  } catch (error) {
    // an unresponsive storage would time out again; the sweep removes the file
    if (error instanceof StorageDown) keys.length = 0;
    throw error;
  } finally {
    if (!isKept) await discard(context, keys);
  }
}

/** Stores the file under a new key, which is added to `keys` before the first byte is stored. */
async function store(
  context: DirectContext,
  bytes: AsyncIterable<Buffer>,
  name: string,
  keys: string[],
): Promise<Stored | undefined | Failure> {
  const kind = kindOf(name ?? '');
  if (!kind) {
    for await (const _ of bytes) void _;
    return undefined;
  }
  await requireOwn(context, context.clock());
  const { storage, inspector } = context;
  const key = newFileKey(kind);
  keys.push(key, blockmapKeyOf(key));
  const inspection = inspector.begin(wantedOf(kind));
  try {
    const size = await storage.put(key, inspected(bytes, inspection));
    return isFailure(size) ? size : { key, kind, findings: await inspection.finish() };
  } finally {
    inspection.drop();
  }
}

async function* inspected(bytes: AsyncIterable<Buffer>, inspection: Inspection): AsyncGenerator<Buffer> {
  for await (const piece of bytes) {
    await inspection.addBytes(piece);
    yield piece;
  }
}

async function toRelease(
  context: DirectContext,
  by: Caller,
  { fields, name, file }: Form<Stored | undefined | Failure>,
): Promise<Release | Failure> {
  if (isFailure(file)) return file;
  const form = checkForm(fields, name);
  if (isFailure(form)) return form;
  const { key, kind, findings } = present(file, 'the form names an accepted file');
  const trouble =
    (await refuseNew(context.db, by, { isDraft: form.fields.is_draft, channel: form.fields.channel })) ??
    checkFindings(kind, { sha512: form.fields.sha512 }, findings) ??
    (await storeBlockmap(context.storage, key, findings));
  if (trouble) return trouble;
  const stored = { name: form.fileName, key };
  const build = await toBuild(context.storage, stored, findings, toBuildFields(form.fields));
  return runChange(
    context,
    by,
    async (change) => (await refuseEnded(change.tx, by.actor, context)) ?? createRelease(change, build),
  );
}

/** Maps the field names of the form to those of the service. */
function toBuildFields(fields: FormFields): BuildInput {
  return {
    version: fields.version,
    channel: fields.channel,
    platform: fields.platform,
    architecture: fields.architecture,
    releaseNotes: fields.release_notes,
    minimumAppVersion: fields.minimum_app_version,
    security: fields.security,
    minimumSupportedVersion: fields.minimum_supported_version,
    isMandatory: fields.is_mandatory,
    isDraft: fields.is_draft,
    rolloutPercentage: fields.rollout_percentage,
    acceptableFailures: fields.acceptable_failures,
    rolloutPlan: fields.rollout_plan,
    startsAt: fields.starts_at,
  };
}

async function discard({ storage, log }: DirectContext, keys: string[]): Promise<void> {
  for (const key of keys) {
    await storage
      .remove(key)
      .catch((error: unknown) => log.warn({ err: error }, 'A refused file was left to the sweep'));
  }
}
