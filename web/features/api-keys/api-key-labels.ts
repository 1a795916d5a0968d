import { lacksForScope, type ApiKey } from '../../../contract/api-keys.ts';
import type { Permission } from '../../../contract/permissions.ts';
import type { ApiKeyScope } from '../../../contract/route.ts';
import { counted } from '../../ui/counted.ts';
import { fullTime } from '../../ui/time.ts';
import { countText } from '../../ui/numbers.ts';

type State = Pick<ApiKey, 'isActive' | 'revokedAt' | 'expiresAt'>;

/** Label of the status in the list, and its color (spec part 2, section 4). */
export function statusOf({ isActive, expiresAt }: State, now: Date) {
  if (!isActive) return { word: 'Revoked', tone: 'red' } as const;
  if (expiresAt !== null && Date.parse(expiresAt) < now.getTime())
    return { word: 'Expired', tone: 'amber' } as const;
  return { word: 'Active', tone: 'teal' } as const;
}

/** Explains whether the status can be undone. */
export function statusNote({ isActive, revokedAt }: State): string | undefined {
  if (revokedAt !== null) return 'Permanently revoked';
  return isActive ? undefined : 'Inactive, and can be activated again';
}

/** Why a key can be neither edited nor revoked; null when it can. */
export const whyFinal = ({ revokedAt }: State): string | null =>
  revokedAt === null ? null : 'The API key has been permanently revoked.';

/** The scopes, the smallest first. */
export const scopeLabels: Record<ApiKeyScope, { label: string; description: string }> = {
  validate: {
    label: 'Validate licenses',
    description: 'A desktop program validates its license and gives its seat back',
  },
  updates: { label: 'Updates', description: 'A desktop program reads update feeds and downloads releases' },
  releases: { label: 'Publish releases', description: 'A build pipeline uploads releases' },
};

/** Why a user with the permissions `held` cannot grant this scope; null when they can. The server decides. */
export function whyNotScope(scope: ApiKeyScope, held: readonly Permission[]): string | null {
  const lacking = lacksForScope(scope, held);
  return lacking.length === 0 ? null : `You lack ${lacking.join(' and ')} yourself`;
}

/**
 * What changed about the user who created a key, as a badge and as sentences; undefined where nothing changed, and for
 * a permanently revoked key, which needs no review any more.
 */
export function makerNotice({
  maker,
  revokedAt,
}: Pick<ApiKey, 'maker' | 'revokedAt'>): { badge: string; text: string } | undefined {
  if (!maker || revokedAt !== null) return undefined;
  if (maker.status === 'deleted')
    return { badge: 'Creator deleted', text: 'This user was deleted. The key is not affected.' };
  const lost =
    maker.lacks.length > 0 &&
    `This user no longer holds ${maker.lacks.join(' and ')}, which the scopes of the key need.`;
  if (maker.status === 'inactive')
    return {
      badge: 'Creator inactive',
      text: `This user was deactivated. ${lost ? `${lost} ` : ''}The key is not affected.`,
    };
  return lost ? { badge: 'Creator lost rights', text: `${lost} The key is not affected.` } : undefined;
}

/** `1 request`, `12,345 requests`. */
export const requestsText = (count: number): string => counted(count, 'request');

/** `1,000 per hour`. */
export const rateText = (perHour: number): string => `${countText(perHour)} per hour`;

type Impact = { validations: number; machines: number };

/** Which machines are refused once a key stops working. */
export const refusedSentence = ({ machines, validations }: Impact): string =>
  machines === 0
    ? 'No machine has validated with it in the last 24 hours.'
    : `${counted(machines, 'machine')} validated with it in the last 24 hours (${counted(validations, 'validation')}) and ${machines === 1 ? 'is' : 'are'} refused from the next check.`;

/**
 * The confirmation text of spec part 2, section 2.10, followed by the usage of the key; `impact` is undefined where it
 * could not be loaded.
 */
export function revokeQuestion(
  key: Pick<ApiKey, 'name' | 'lastUsedAt' | 'totalRequests'>,
  impact: Impact | undefined,
): string {
  const question = `Are you sure you want to revoke the API key "${key.name}"? This action cannot be undone.`;
  const used = key.lastUsedAt
    ? `Last used ${fullTime(key.lastUsedAt)}, ${requestsText(key.totalRequests)} in all.`
    : 'Never used.';
  const hit = impact ? refusedSentence(impact) : 'How many machines use it could not be counted.';
  return `${question}\n\n${used}\n${hit}`;
}
