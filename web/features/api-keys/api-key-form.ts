import { schemaResolver, type FormErrors } from '@mantine/form';
import { apiKeyInput, apiKeyPatch, defaultRateLimit, type ApiKey } from '../../../contract/api-keys.ts';
import type { ApiKeyScope } from '../../../contract/route.ts';
import { instantText } from '../../ui/day.ts';
import { isMoment, localOf, momentProblem } from '../../ui/typed-day.ts';
import type { TypedNumber } from '../../ui/typed-number.ts';
import type { ApiKeyPatch, ApiKeyPayload } from './queries.ts';
import { whitelistOf } from './whitelist.ts';

/** The form values. */
export type Values = {
  name: string;
  status: 'active' | 'inactive';
  /** A value of `datetime-local`, in the time zone of the user. */
  expiresAt: string;
  rateLimit: TypedNumber;
  /** Comma-separated. */
  ipWhitelist: string;
  /** Removes the whitelist, which an empty field does not. */
  anyAddress: boolean;
  scopes: ApiKeyScope[];
};

/** A new key: the smallest scope, and the limit of spec part 2, section 9. */
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

/** The request body to create a key; an empty whitelist is omitted (spec part 2, section 5). */
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
 * The request body to update a key: only fields that differ from `before`, so that a concurrent change of another field
 * stays. Empty fields are omitted (spec part 2, section 5).
 */
export function patchOf(values: Values, before: ApiKey): ApiKeyPatch {
  const seen = valuesOf(before);
  const isChanged = (field: keyof Values) =>
    String(values[field]).trim() !== '' && textOf(values[field]) !== textOf(seen[field]);
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
const checkPatch = schemaResolver(apiKeyPatch, { sync: true });

/** Scopes have no order. */
const textOf = (value: Values[keyof Values]) => String(Array.isArray(value) ? value.toSorted() : value);

/** Errors of a new key, by field. */
export function checkNew(values: Values): FormErrors {
  return { ...byField(checkInput(payloadOf(values))), ...wrongExpiry(values) };
}

/** Errors of an edit, by field. */
export function checkChanges(values: Values, before: ApiKey): FormErrors {
  const patch = patchOf(values, before);
  return { ...byField(checkPatch(patch)), ...wrongExpiry(values) };
}

function wrongExpiry({ expiresAt }: Values): FormErrors {
  const problem = momentProblem(expiresAt);
  return problem ? { expiresAt: problem } : {};
}

/** Shows an error about an entry of a list at the field of the list. */
export const byField = (errors: FormErrors): FormErrors =>
  Object.fromEntries(Object.entries(errors).map(([path, message]) => [path.replace(/\..*$/, ''), message]));

/** Empty where the value is not a date and time. */
const isoOf = (local: string): string => (isMoment(local) ? instantText(new Date(local)) : '');
