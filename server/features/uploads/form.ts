import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import { asLine } from '../../../contract/common.ts';
import type { ErrorDetail } from '../../../contract/errors.ts';
import { buildFields, planProblem, publishFields, sha512 } from '../../../contract/builds.ts';
import { directUploadLimit, uploads } from '../../../contract/uploads.ts';
import { fail, type Failure } from '../../failure.ts';
import { ArrivedTooSlowly } from '../../http/arrivals.ts';
import { printable, toDetails } from '../../http/input.ts';

const asFlag = z.enum(['true', 'false'], 'Must be true or false').transform((value) => value === 'true');
const asNumber = z
  .string()
  .regex(/^\d{1,9}$/, 'Must be a whole number from 0 to 100')
  .transform(Number);
/** Empty, or a number with decimals. */
const asPercent = z
  .string()
  .regex(/^(?:\d{1,3}(?:\.\d{1,9})?)?$/, 'Must be a number from 0.1 to 50')
  .transform((value) => (value === '' ? null : Number(value)));

/** Empty, or steps as JSON. */
const asJson = z.string().transform((value, context): unknown => {
  try {
    return value === '' ? null : JSON.parse(value);
  } catch {
    context.addIssue({ code: 'custom', message: 'Must be JSON' });
    return z.NEVER;
  }
});
const orNull = (text: unknown) => (text === '' ? null : text);

const withLineFeeds = (text: unknown) => (typeof text === 'string' ? text.replaceAll('\r\n', '\n') : text);

const formNames = { rolloutPlan: 'rollout_plan', startsAt: 'starts_at' };

/** The form fields in addition to the file, by the names of the spec; all are text. */
const formFields = z
  .strictObject({
    ...buildFields,
    // multipart forms send line breaks as CR LF
    release_notes: z.preprocess(withLineFeeds, publishFields.releaseNotes),
    minimum_app_version: publishFields.minimumAppVersion,
    security: asFlag.optional().pipe(publishFields.security),
    minimum_supported_version: publishFields.minimumSupportedVersion,
    is_mandatory: asFlag.optional().pipe(publishFields.isMandatory),
    is_draft: asFlag.optional().pipe(publishFields.isDraft),
    rollout_percentage: asNumber.optional().pipe(publishFields.rolloutPercentage),
    acceptable_failures: asPercent.optional().pipe(publishFields.acceptableFailures),
    rollout_plan: asJson.optional().pipe(publishFields.rolloutPlan),
    starts_at: z.preprocess(orNull, publishFields.startsAt),
    sha512: sha512.optional(),
  })
  .superRefine((fields, context) => {
    const [field, message] =
      planProblem({
        rolloutPlan: fields.rollout_plan,
        startsAt: fields.starts_at,
        rolloutPercentage: fields.rollout_percentage,
      }) ?? [];
    if (field) context.addIssue({ code: 'custom', path: [formNames[field]], message });
  });
export type FormFields = z.output<typeof formFields>;

const fileName = z.string('File is required').pipe(uploads.prepare.body.shape.fileName);

/** Checks the text fields and the name of the file, and reports all errors. */
export function checkForm(
  fields: Record<string, string>,
  name: string | undefined,
): { fields: FormFields; fileName: string } | Failure {
  const named = fileName.safeParse(name);
  const parsed = formFields.safeParse(fields);
  const details: ErrorDetail[] = [
    ...(named.error?.issues.slice(0, 1) ?? []).flatMap((issue) => toDetails('file', issue)),
    ...(parsed.error?.issues ?? []).flatMap((issue) => toDetails('body', issue)),
  ];
  if (parsed.success && named.success) return { fields: parsed.data, fileName: named.data };
  const [first] = details;
  return fail('INVALID_INPUT', `${first?.path}: ${first?.message}`, { details });
}

/** A file of maximum size, plus text fields and boundaries. */
export const largestForm = directUploadLimit + 1024 * 1024;

export const tooLarge = fail(
  'TOO_LARGE',
  'File too large. Files over 20MB require chunked upload. The upload will switch automatically.',
);
const unreadable = (message: string) =>
  fail('INVALID_INPUT', message, { details: [{ path: 'body', message }] });

/** What the parser makes of bytes that are not UTF-8: a text in another encoding would be stored without its letters. */
const undecodable = '\uFFFD';
const unreadableLetters = `Has letters that cannot be read (${undecodable}): send it as UTF-8`;

/** Thrown when the file or the form exceeds its limit. */
class TooLarge extends Error {}

export type Form<T> = { fields: Record<string, string>; name: string | undefined; file: T | undefined };

/**
 * Reads a multipart form as it arrives. The file, at any position in the form, is passed to `take` while it arrives;
 * its bytes throw when the form is aborted or the file exceeds the limit of a direct upload.
 */
export async function readForm<T>(
  { readable, contentType }: { readable: Readable; contentType: string },
  take: (bytes: AsyncIterable<Buffer>, name: string) => Promise<T>,
): Promise<Form<T> | Failure> {
  const fields: Record<string, string> = Object.create(null) as Record<string, string>;
  let name: string | undefined;
  let open: BusboyFileStream | undefined;
  let taking: Promise<T> | undefined;
  let excess: string | undefined;
  let parser: BusboyInstance;
  try {
    parser = new Busboy({
      headers: { 'content-type': contentType },
      limits: { files: 1, fileSize: directUploadLimit, fields: 30, fieldSize: 100_000, parts: 40 },
    });
  } catch {
    return unreadable('The Content-Type has no boundary.');
  }
  // it may emit further errors after it was abandoned
  const ignore = () => undefined;
  parser.on('error', ignore);
  parser.on('field', (key, value, _, isCut) => {
    if (key in fields) excess ??= `${printable(key)}: Is given more than once`;
    fields[key] = value;
    if (isCut) excess ??= `${printable(key)}: Is too long`;
    if (value.includes(undecodable)) excess ??= `${printable(key)}: ${unreadableLetters}`;
  });
  parser.on('file', (field, stream, given) => {
    if (field !== 'file') excess ??= `${printable(field)}: Unknown field`;
    // as it will be stored: the kind of file is found by it
    name = given && asLine(given);
    if (name?.includes(undecodable)) excess ??= `file: ${unreadableLetters}`;
    open = stream.on('error', ignore);
    const bytes = whole(stream);
    taking = take(bytes, name);
    // drain bytes that `take` left unread, which would block the form
    const drain = () => bytes.return().then(() => stream.resume());
    taking.then(drain, drain).catch(ignore);
  });
  for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const)
    parser.on(limit, () => (excess ??= 'The form has too many parts.'));
  try {
    await pass(readable, parser);
  } catch (error) {
    open?.destroy(error as Error);
    await taking?.catch(ignore);
    if (error instanceof TooLarge) return tooLarge;
    if (error instanceof ArrivedTooSlowly) throw error;
    return unreadable('The form is incomplete.');
  }
  try {
    const file = await taking;
    return excess === undefined ? { fields, name, file } : unreadable(excess);
  } catch (error) {
    if (error instanceof TooLarge) return tooLarge;
    throw error;
  }
}

/** Not a pipeline, which would close the connection needed for the error response. */
function pass(readable: Readable, parser: BusboyInstance): Promise<void> {
  let size = 0;
  return new Promise<void>((resolve, reject) => {
    readable.on('data', (piece: Buffer) => (size += piece.length) > largestForm && reject(new TooLarge()));
    parser.once('finish', resolve).once('error', reject);
    readable.once('error', reject).once('close', () => {
      if (!readable.readableEnded) reject(new Error('The sender is gone'));
    });
    readable.pipe(parser);
  }).finally(() => readable.unpipe(parser).resume());
}

async function* whole(stream: BusboyFileStream): AsyncGenerator<Buffer, void> {
  for await (const piece of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) yield piece;
  if (stream.truncated) throw new TooLarge();
}
