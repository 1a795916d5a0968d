import { keepPreviousData } from '@tanstack/react-query';
import { audit } from '../../../contract/audit.ts';
import { errorOf } from '../../api-error.ts';
import { call, untilLeft, urlOf, withSession } from '../../api.ts';
import { live } from '../../live.ts';
import { askedOnce } from '../../query-client.ts';
import { queryOf } from '../../query-of.ts';
import { instantText } from '../../ui/day.ts';
import { saveFile } from '../../ui/save-file.ts';
import { defaultSize, type AuditSearch } from './audit-search.ts';

/** Spec part 2, section 9. */
const freshFor = 30_000;
const keptFor = 5 * 60_000;

/** The search parameters that the service filters by; days begin and end in the time zone of the user. */
function filterOf(search: AuditSearch) {
  return {
    search: search.search,
    userId: search.userId,
    resourceType: search.resourceType,
    resourceId: search.resourceId,
    eventType: search.eventType,
    success: search.status && successOf[search.status],
    startDate: search.from ? instantText(startOf(search.from)) : search.since,
    endDate: search.to && instantText(new Date(startOf(search.to, 1).getTime() - 1)),
  };
}

const successOf = { success: 'true', failed: 'false' } as const;

/**
 * When a day begins, or the one so many days `after` it, in the time zone of the user. A day ends when the next begins:
 * where clocks go back at midnight, its last hour comes twice.
 */
function startOf(text: string, after = 0): Date {
  const [year = 0, month = 0, day = 0] = text.split('-').map(Number);
  return new Date(year, month - 1, day + after);
}

/** A page: by its cursor after the page before it, else by its offset from the newest entry. */
export const auditListQuery = (search: AuditSearch) => {
  const size = search.size ?? defaultSize;
  const place = search.after ? { after: search.after } : { offset: String(((search.page ?? 1) - 1) * size) };
  const query = { ...filterOf(search), limit: String(size), ...place };
  return queryOf(
    audit.list,
    { query },
    { staleTime: freshFor, gcTime: keptFor, placeholderData: keepPreviousData },
  );
};

export const auditEntryQuery = (id: string) =>
  queryOf(audit.get, { params: { id } }, { staleTime: freshFor });

export const auditChoicesQuery = queryOf(audit.choices, {}, { staleTime: freshFor });

export const statsDays = 30;

export const auditStatsQuery = queryOf(
  audit.stats,
  { query: { days: String(statsDays) } },
  { ...live, staleTime: freshFor },
);

/** The state of the chain; refetched each minute, as the server verifies it. */
export const chainQuery = queryOf(audit.chain, {}, { refetchInterval: 60_000 });

export const auditConfigQuery = queryOf(audit.config);

/** What a cleanup deletes; `days`: for a retention other than the stored one. */
export const cleanUpImpactQuery = (days?: number) =>
  queryOf(audit.cleanupImpact, { query: { days: days === undefined ? undefined : String(days) } }, askedOnce);

/** `seen`: the value that the user changes. */
export const setRetention = (body: { value: number; seen: number }) =>
  call(audit.setConfig, { params: { key: 'retentionDays' }, body });
/** `days`: the retention that the user was shown. */
export const cleanUp = (days: number) => call(audit.cleanup, { query: { days: String(days) } });
export const verifyChain = () => call(audit.verify);

/** Fetches the whole filtered list as a file and saves it under the file name of the response, for the user who asked. */
export async function saveExport(search: AuditSearch, signal: AbortSignal): Promise<void> {
  const { file, name } = await untilLeft(fetchExport(search, signal));
  saveFile(file, name);
}

async function fetchExport(search: AuditSearch, signal: AbortSignal) {
  const response = await withSession((token) =>
    fetch(urlOf(audit.exportCsv, { query: filterOf(search) }), {
      credentials: 'include',
      signal,
      headers: token ? { Authorization: `Bearer ${token}` } : {},
    }),
  );
  const name = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1];
  // a page of a proxy has none
  if (!response.ok || !name) throw errorOf(response.status, await response.text());
  return { file: await response.blob(), name };
}
