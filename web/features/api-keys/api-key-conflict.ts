import type { ApiKey } from '../../../contract/api-keys.ts';
import { apiKeyLabels } from '../../field-labels.ts';
import { differingFields, type Clash } from '../../edit-conflict.ts';
import { fullTime } from '../../ui/time.ts';
import { rateText } from './api-key-labels.ts';

type Field = keyof typeof apiKeyLabels;

const words: { [F in Field]: (value: ApiKey[F]) => string } = {
  name: (name) => name,
  isActive: (isActive) => (isActive ? 'Active' : 'Inactive'),
  expiresAt: (expiresAt) => (expiresAt === null ? 'Never' : fullTime(expiresAt)),
  rateLimit: rateText,
  ipWhitelist: (entries) => entries.join(', ') || 'None',
};

/** Labels of the fields in which two edits of one key differ. */
export const conflictRows = (clash: Clash) => differingFields(clash, apiKeyLabels, asText);

const asText = (field: Field, value: unknown): string => (words[field] as (value: unknown) => string)(value);
