import type { ApiKey } from '../../../contract/api-keys.ts';
import type { ApiKeyScope } from '../../../contract/route.ts';

type State = Pick<ApiKey, 'isActive' | 'revokedAt' | 'expiresAt'>;

/** The word of the list and its color (spec part 2, section 4). */
export function statusOf({ isActive, expiresAt }: State, now: Date) {
  if (!isActive) return { word: 'Revoked', tone: 'red' } as const;
  if (expiresAt !== null && Date.parse(expiresAt) < now.getTime())
    return { word: 'Expired', tone: 'amber' } as const;
  return { word: 'Active', tone: 'teal' } as const;
}

/** What the word of the status leaves open: whether there is a way back. */
export function statusNote({ isActive, revokedAt }: State): string | undefined {
  if (revokedAt !== null) return 'Revoked for good';
  return isActive ? undefined : 'Inactive, and may be made active again';
}

/** Why a key can neither be edited nor revoked; null when it can. */
export const whyFinal = ({ revokedAt }: State): string | null =>
  revokedAt === null ? null : 'The API key has been revoked for good.';

/** What a key may be for, the least first. */
export const scopeWords: Record<ApiKeyScope, { label: string; description: string }> = {
  validate: {
    label: 'Validate licenses',
    description: 'A desktop program validates its license and gives its seat back',
  },
  updates: { label: 'Updates', description: 'A desktop program reads update feeds and downloads releases' },
  releases: { label: 'Publish releases', description: 'A build pipeline uploads releases' },
};

/** `1 request`, `12,345 requests`. */
export const requestsText = (count: number): string =>
  `${count.toLocaleString('en')} ${count === 1 ? 'request' : 'requests'}`;

/** `1,000 per hour`. */
export const rateText = (perHour: number): string => `${perHour.toLocaleString('en')} per hour`;

export const revokeQuestion = (name: string): string =>
  `Are you sure you want to revoke the API key "${name}"? This action cannot be undone.`;
