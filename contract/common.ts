import { z } from 'zod';
import './messages.ts';
import { isStorableText } from './text.ts';

/** Text of at most `max` characters, trimmed, without control characters; `missing` is the message when absent. */
export const text = (max: number, missing?: string) =>
  z
    .string({ error: ({ input }) => (input === undefined || input === null ? missing : undefined) })
    .trim()
    .max(max, { abort: true })
    .refine(isStorableText, 'Contains characters that are not text');

/** Like `text`, and not empty; `message` when it is missing or empty. */
export const requiredText = (max: number, message?: string) =>
  text(max, message).min(1, { error: message, abort: true });

/** What shows nothing, but for the joiners that some scripts need inside of words. */
const invisible = /(?!\u200c|\u200d|\ufeff)[\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Without what makes two names look alike that are not: other kinds of spaces, invisible characters. */
export function asLine(typed: string): string {
  const shown = typed.normalize('NFC').replaceAll(invisible, '').replaceAll(/\s+/g, ' ').trim();
  return shown.replaceAll(/[\u200c\u200d\p{M}]/gu, '') && shown;
}

/** Like `text`, for one line, such as a name. NFC makes some texts longer, which could then not be saved again. */
export const line = (max: number, missing?: string) => text(max, missing).overwrite(asLine).max(max);

export const requiredLine = (max: number, message?: string) => line(max, message).min(1, message);

/** Text that may be absent, null or empty, all of which mean null. */
export const optional = (schema: z.ZodString) => schema.nullish().transform((value) => value || null);

/** In lower case, as ids are stored and compared. */
export const id = z.uuid().toLowerCase().meta({ description: 'UUIDv7' });

/** The credentials in the query of a call that takes them there (`apiKeyInQuery`). */
export const credentialQuery = {
  key: z.string().optional().meta({ description: 'API key, for clients that cannot send headers' }),
  token: z
    .string()
    .optional()
    .meta({ description: 'Machine token, for clients that cannot send the header X-Machine-Token' }),
};

/** Ids in a query string, separated by commas. */
export const idList = z
  .string()
  .transform((value) => value.split(','))
  .pipe(z.array(id).max(200, 'Must be at most 200 ids'))
  .meta({ description: 'At most 200 ids (UUID), separated by commas' });

/**
 * Accepts the same email addresses as the browser's check of an email field, so that forms and the server agree. `a@b`
 * is valid: a host in an office network needs no dot.
 */
export const isEmail = (value: string): boolean => z.regexes.html5Email.test(value);

/** 1970 to 9999: four digits in ISO 8601, and within every client's date type. */
const earliest = Date.UTC(1970, 0, 1);
const latest = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

const notInstant = 'Must be an ISO 8601 date and time, such as 2026-11-20T09:30:00Z';

/** An instant; `missing` is the message when it is absent or empty. */
export const requiredInstant = (missing: string) =>
  z.iso
    .datetime({ offset: true, abort: true, error: ({ input }) => (input ? notInstant : missing) })
    .refine((value) => {
      const at = Date.parse(value);
      return at >= earliest && at <= latest;
    }, 'Must lie between the years 1970 and 9999')
    .transform((value) => new Date(value).toISOString());

/** An ISO 8601 instant: input has an offset or `Z`, output is always UTC with milliseconds. */
export const instant = requiredInstant(notInstant);

/** A day such as 2026-11-20, in the years of `instant`: PostgreSQL has no year 0. */
export const day = z.iso
  .date('Must be a date such as 2026-11-20')
  .refine((value) => Date.parse(value) >= earliest, 'Must lie between the years 1970 and 9999');

/** An instant in a response; already normalized, so not parsed again. */
export const dateTime = z.string().meta({ format: 'date-time' });

/** A URL in a response. Handlers return URLs of this service as paths; the adapter prepends its address. */
export const url = z.string().meta({ format: 'uri' });

/**
 * A whole number; `tooSmall` is the message below `least`. The limits are checked first: far above them the check for
 * whole numbers would name the largest one that JavaScript can count.
 */
export const integer = (least: number, most: number, tooSmall?: string) =>
  z.number().min(least, tooSmall).max(most).int();

/** A whole number with one message for whatever is wrong with it. */
export function wholeFrom(least: number, most: number) {
  const error = `Must be a whole number from ${least} to ${most}`;
  return z.number(error).int(error).min(least, error).max(most, error);
}

/** A whole number in a path or query string: decimal digits only. */
export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, 'Must be a whole number')
    .transform(Number)
    .pipe(z.number().min(min).max(max))
    .meta({ type: 'integer', minimum: min, maximum: max });

/** A flag in a query string: `true` or `false`. */
export const queryFlag = z.enum(['true', 'false']).transform((value) => value === 'true');

/** The values of `sort`: each column ascending, and descending with a minus. */
export const sortsBy = <const Column extends string>(...columns: Column[]) =>
  columns.flatMap((column) => [column, `-${column}` as const]);

/** Paging of a list. Without `limit` the list is complete, as in the calls of the spec. */
export const paging = {
  limit: wholeNumber(1, 500).optional().meta({ description: 'Maximum number of rows; by default all' }),
  offset: wholeNumber(0, 10_000_000).optional().meta({ description: 'Rows to skip' }),
};

/** Whether data of any form is nested at most `levels` deep. */
export const isShallow = (value: unknown, levels: number): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (levels > 0 && Object.values(value).every((part) => isShallow(part, levels - 1)));

/** Search text, limited in length to bound the cost of a search. */
export const search = text(200).optional();

/** An object that has a name of its own in the OpenAPI document. */
export const namedObject = <Fields extends z.core.$ZodLooseShape>(name: string, fields: Fields) =>
  z.object(fields).meta({ id: name });

/** `meta` next to the data of every list. */
export const listMeta = namedObject('ListMeta', {
  total: z.number(),
  limit: z.number().nullable(),
  offset: z.number(),
});

/** Of a change that is no edit of fields: it is made only of what the user was shown. */
export const shownVersion = instant.optional().meta({
  description: 'updatedAt of the record as it was shown: WRONG_STATE where it was changed since',
});

/** The version that the user started to edit: 409 when it has changed since. */
export const seenVersion = instant.optional().meta({
  description: 'updatedAt of the record as it was seen; a newer stored version gives 409 EDIT_CONFLICT',
});
