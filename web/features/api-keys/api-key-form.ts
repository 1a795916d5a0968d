import { schemaResolver, type FormErrors } from '@mantine/form';
import { apiKeyInput, apiKeys, defaultRateLimit, type ApiKey } from '../../../contract/api-keys.ts';
import type { ApiKeyScope } from '../../../contract/route.ts';
import { isMoment, localOf, momentProblem } from '../../ui/typed-day.ts';
import type { TypedNumber } from '../../ui/typed-number.ts';
import type { ApiKeyPatch, ApiKeyPayload } from './queries.ts';

/** The fields as a person fills them. */
export type Values = {
  name: string;
  status: 'active' | 'inactive';
  /** As a day field with a time holds it, in the zone of the reader. */
  expiresAt: string;
  rateLimit: TypedNumber;
  /** Separated by commas. */
  ipWhitelist: string;
  /** Takes the whitelist away, which an empty field does not. */
  anyAddress: boolean;
  scopes: ApiKeyScope[];
};

/** A new key: the least scope, and the limit of spec part 2, section 9. */
export const emptyValues: Values = {
  name: '',
  status: 'active',
  expiresAt: '',
  rateLimit: defaultRateLimit,
  ipWhitelist: '',
  anyAddress: false,
  scopes: ['validate'],
};

export const valuesOf = (key: ApiKey): Values => ({
  name: key.name,
  status: key.isActive ? 'active' : 'inactive',
  expiresAt: key.expiresAt === null ? '' : localOf(new Date(key.expiresAt)),
  rateLimit: key.rateLimit,
  ipWhitelist: key.ipWhitelist.join(', '),
  anyAddress: false,
  scopes: key.scopes,
});

/** Addresses and ranges, separated by commas or on lines of their own. */
const whitelistOf = (text: string): string[] =>
  text
    .split(/[,\n]/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

/** What is sent to create a key; an empty whitelist is left out (spec part 2, section 5). */
export function payloadOf({ name, expiresAt, rateLimit, ipWhitelist, scopes }: Values): ApiKeyPayload {
  const whitelist = whitelistOf(ipWhitelist);
  return {
    name,
    expiresAt: isoOf(expiresAt),
    rateLimit: rateLimit as number,
    scopes,
    ...(whitelist.length > 0 && { ipWhitelist: whitelist }),
  };
}

/**
 * What is sent to change a key: what differs from `before`, so that a change made by someone else meanwhile stays.
 * Empty fields are left out (spec part 2, section 5).
 */
export function patchOf(values: Values, before: ApiKey): ApiKeyPatch {
  const seen = valuesOf(before);
  const isChanged = (field: keyof Values) =>
    String(values[field]).trim() !== '' && String(values[field]) !== String(seen[field]);
  const whitelist = whitelistOf(values.ipWhitelist);
  return {
    ...(isChanged('name') && { name: values.name }),
    ...(isChanged('status') && { isActive: values.status === 'active' }),
    ...(isChanged('expiresAt') && { expiresAt: isoOf(values.expiresAt) }),
    ...(isChanged('rateLimit') && { rateLimit: values.rateLimit as number }),
    ...(isChanged('ipWhitelist') && whitelist.length > 0 && { ipWhitelist: whitelist }),
    ...(values.anyAddress && { ipWhitelist: [] }),
    ...((isChanged('scopes') || values.scopes.length === 0) && { scopes: values.scopes }),
  };
}

const checkInput = schemaResolver(apiKeyInput, { sync: true });
const checkPatch = schemaResolver(apiKeys.update.body, { sync: true });

/** What is wrong with a new key, by field. */
export function checkNew(values: Values): FormErrors {
  const errors = byField(checkInput(payloadOf(values)));
  return {
    ...errors,
    ...wrongExpiry(values),
    ...(values.expiresAt === '' && { expiresAt: 'Expiration date is required' }),
  };
}

/** What is wrong with the changes to a key, by field. */
export const checkChanges = (values: Values, before: ApiKey): FormErrors => ({
  ...byField(checkPatch(patchOf(values, before))),
  ...wrongExpiry(values),
});

function wrongExpiry({ expiresAt }: Values): FormErrors {
  const problem = momentProblem(expiresAt);
  return problem ? { expiresAt: problem } : {};
}

/** What is said about an entry of a list is said at its field. */
export const byField = (errors: FormErrors): FormErrors =>
  Object.fromEntries(Object.entries(errors).map(([path, message]) => [path.replace(/\..*$/, ''), message]));

/** Empty where the field holds no date and time. */
const isoOf = (local: string): string => (isMoment(local) ? new Date(local).toISOString() : '');
