import type { ApiKey } from '../../../contract/api-keys.ts';
import { differingFields, type Clash } from '../../edit-conflict.ts';
import { fullTime } from '../../ui/time.ts';
import { rateText } from './api-key-labels.ts';

/** Labels of the fields that can conflict; scopes are merged one by one. */
export const fieldLabels = {
  name: 'Name',
  isActive: 'Status',
  expiresAt: 'Expiration Date',
  rateLimit: 'Rate Limit',
  ipWhitelist: 'IP Whitelist',
} as const;

type Field = keyof typeof fieldLabels;

const words: { [F in Field]: (value: ApiKey[F]) => string } = {
  name: (name) => name,
  isActive: (isActive) => (isActive ? 'Active' : 'Inactive'),
  expiresAt: (expiresAt) => (expiresAt === null ? 'Never' : fullTime(expiresAt)),
  rateLimit: rateText,
  ipWhitelist: (entries) => entries.join(', ') || 'None',
};

/** Labels of the fields in which two edits of one key differ. */
export const conflictRows = (clash: Clash) => differingFields(clash, fieldLabels, asText);

const asText = (field: Field, value: unknown): string => (words[field] as (value: unknown) => string)(value);
