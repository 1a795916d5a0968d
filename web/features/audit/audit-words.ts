import { moduleLabel } from '../../../contract/module-ids.ts';
import { labelOf } from '../../../contract/text.ts';
import {
  apiKeyLabels,
  customerLabels,
  licenseLabels,
  policyLabels,
  releaseLabels,
  roleLabels,
  userLabels,
} from '../../field-labels.ts';
import { momentText, utcDate, withTimes } from '../../ui/time.ts';

const labels: Record<string, Readonly<Record<string, string>>> = {
  customer: { ...policyLabels, ...customerLabels },
  tag: policyLabels,
  license: licenseLabels,
  release: releaseLabels,
  upload: releaseLabels,
  user: userLabels,
  role: roleLabels,
  api_key: apiKeyLabels,
};

const labelIn = (names: Readonly<Record<string, string>> | undefined, name: string): string | undefined =>
  names && Object.hasOwn(names, name) ? names[name] : undefined;

/** The label of a field in the forms of its record, else its name in words. `path`: `customer.name` for a nested one. */
export const fieldWord = (resource: string, path: string): string =>
  labelIn(labels[resource], path) ??
  labelOf(path.replaceAll('.', '_').replace(/^is([A-Z])/, (_, first: string) => first.toLowerCase()));

/** Where the words of an event say less than these. */
const events: Record<string, string> = {
  'session.login': 'Signed in',
  'session.login_failed': 'Sign-in failed',
  'session.code_required': 'Asked for the code',
  'session.logout': 'Signed out',
  'upload.cancelled': 'Upload canceled',
};

/** `Customer updated` for `customer.updated`. */
export const eventWord = (event: string): string =>
  labelIn(events, event) ?? labelOf(event.replace('.', '_'));

/**
 * A stored summary with its fields, days, times and modules in the words of the console. The stored text is sealed, and
 * somebody typed parts of it: what only looks like a field or a time stays.
 */
export function summaryWords(event: string, summary: string): string {
  const resource = event.slice(0, event.indexOf('.'));
  const inWords = summary
    .replaceAll(/(?<=[:;] |\(|policy )[a-z]\w*(?=: )(?=(: [^;]* → )?)/g, (field, change) =>
      change || labelIn(labels[resource], field) || /[A-Z]/.test(field) ? fieldWord(resource, field) : field,
    )
    .replaceAll(/\bmod_\w+/g, moduleLabel);
  const isDay = (time: string) => resource === 'license' && time.endsWith('T00:00:00.000Z');
  return withTimes(inWords, (time) => (isDay(time) ? utcDate : momentText)(time));
}
