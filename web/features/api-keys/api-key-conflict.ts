import type { ApiKeyScope } from '../../../contract/route.ts';
import { apiKeyLabels } from '../../field-labels.ts';
import { differingFields, type Clash } from '../../edit-conflict.ts';
import { fullTime } from '../../ui/time.ts';
import { rateText, scopeLabels } from './api-key-labels.ts';

/** Labels of the fields in which two edits of one key differ. */
export const conflictRows = (clash: Clash) =>
  differingFields(clash, apiKeyLabels, {
    isActive: (isActive: boolean) => (isActive ? 'Active' : 'Inactive'),
    expiresAt: (expiresAt: string | null) => (expiresAt === null ? 'Never' : fullTime(expiresAt)),
    rateLimit: rateText,
    ipWhitelist: (entries: string[]) => entries.join(', ') || 'None',
    scopes: (scopes: ApiKeyScope[]) => scopes.map((scope) => scopeLabels[scope].label).join(', '),
  });
