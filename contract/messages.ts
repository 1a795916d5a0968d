import { z } from 'zod';
import { labelOf } from './text.ts';

/*
 * Messages for schemas without their own. The library's defaults ("Invalid input: expected string, received undefined")
 * are unsuitable for forms and API responses.
 */
z.config({ customError: (issue) => ({ message: sentenceFor(issue) }) });

function sentenceFor(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return missing(issue) ?? `Must be ${kinds[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return (
        missing(issue) ??
        `Must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`
      );
    case 'too_small':
      return missing(issue) ?? `Must ${bound(issue.origin, 'at least', issue.minimum)}`;
    case 'too_big':
      return `Must ${bound(issue.origin, 'at most', issue.maximum)}`;
    case 'invalid_format':
      return missing(issue) ?? `Must be ${formats[issue.format] ?? 'in the right form'}`;
    case 'unrecognized_keys':
      return 'Unknown field';
    case 'not_multiple_of':
      return `Must be a multiple of ${issue.divisor.toLocaleString('en')}`;
    case 'invalid_union':
    case 'invalid_key':
    case 'invalid_element':
    case 'custom':
      return missing(issue) ?? 'Is not valid';
  }
}

const kinds: Record<string, string> = {
  string: 'text',
  number: 'a number, written in digits',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

const formats: Record<string, string> = {
  email: 'an email address',
  url: 'a web address',
  uuid: 'an id (UUID)',
  datetime: 'an ISO 8601 date and time, such as 2026-11-20T09:30:00Z',
  date: 'a date such as 2026-11-20',
};

/** `Name is required` where the field is empty or missing. */
function missing({ input, path = [] }: z.core.$ZodRawIssue): string | undefined {
  const name = path.findLast((part) => typeof part === 'string');
  const isMissing = input === undefined || input === null || input === '';
  return isMissing && name ? `${labelOf(name)} is required` : undefined;
}

function bound(origin: string, least: string, limit: number | bigint): string {
  const unit = {
    string: ['character', 'characters'],
    array: ['entry', 'entries'],
    set: ['entry', 'entries'],
    file: ['byte', 'bytes'],
  }[origin];
  const number = limit.toLocaleString('en');
  if (!unit) return `be ${least} ${number}`;
  return `${origin === 'string' ? 'be' : 'have'} ${least} ${number} ${unit[Number(limit) === 1 ? 0 : 1]}`;
}
