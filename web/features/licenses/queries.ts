import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { licenses, licenseSorts, type License, type LicenseTab } from '../../../contract/licenses.ts';
import type { RouteRequest } from '../../../contract/route.ts';
import { validation } from '../../../contract/validation.ts';
import { call, urlOf } from '../../api.ts';
import { live } from '../../live.ts';
import { alwaysFresh, askedOnce } from '../../query-client.ts';
import { oneOf } from '../../search-params.ts';
import { pageOf, queryOf } from '../../query-of.ts';
import { readDay } from '../../ui/typed-day.ts';
import { licenseListSearch, type LicenseListSearch } from './licenses-search.ts';

export const pageSize = 50;

export const tabOf = (search: LicenseListSearch): LicenseTab => search.tab ?? 'active';
export const sortOf = (search: LicenseListSearch) => oneOf(licenseSorts, search.sort) ?? 'customer';

/** The search parameters that the service filters and sorts by: it knows the day that the reader sees as an ISO date. */
export const filterOf = (search: LicenseListSearch) => ({
  tab: tabOf(search),
  search: search.search && readDay(search.search),
  type: search.type,
  customerId: search.customer,
  expiringWithinDays: search.expiring,
  attention: search.attention,
  seats: search.seats,
  unseenForDays: search.unseen,
  sort: sortOf(search),
});

/** What a saved view of the list holds. */
export const licenseView = {
  names: ['tab', 'search', 'type', 'customer', 'expiring', 'attention', 'seats', 'unseen', 'sort'],
  read(params: Record<string, unknown>) {
    const search = licenseListSearch(params);
    return {
      ...search,
      // a day as the reader has typed it would be another one to readers elsewhere
      search: search.search && readDay(search.search),
      sort: oneOf(licenseSorts, search.sort),
    };
  },
};

/** A page of the list, with the counts of the tabs and of the customers on the page. */
export const licenseListQuery = (search: LicenseListSearch) =>
  queryOf(
    licenses.list,
    { query: { ...filterOf(search), ...pageOf(search.page, pageSize) } },
    { placeholderData: keepPreviousData },
  );

export const licensesPerPage = 20;

/** A page of the licenses of one customer in all states; by default the one that lasts longest first. */
export const customerLicensesQuery = (
  customerId: string,
  { page, sort }: { page: number | undefined; sort: string },
  size: number,
) =>
  queryOf(
    licenses.list,
    {
      query: {
        customerId,
        sort: oneOf(licenseSorts, sort) ?? ('-validUntil' as const),
        ...pageOf(page, size),
      },
    },
    { ...live, placeholderData: keepPreviousData },
  );

export const licenseExportUrl = (search: LicenseListSearch): string =>
  urlOf(licenses.exportCsv, { query: filterOf(search) });

/** The same for these licenses alone, in the order of the list. */
export const tickedExportUrl = (ticked: readonly License[], search: LicenseListSearch): string =>
  urlOf(licenses.exportCsv, {
    query: { ids: ticked.map(({ licenseId }) => licenseId).join(','), sort: sortOf(search) },
  });

/** One license, always refetched, since its `updatedAt` decides whether an edit may be saved. */
export const licenseQuery = (id: string) => queryOf(licenses.get, withId(id), alwaysFresh);

/** The same for its page. */
export const licensePageQuery = (id: string) => ({ ...licenseQuery(id), ...live });

/** The results of its validations in the last 30 days. */
export const licenseValidationsQuery = (id: string) => queryOf(validation.ofLicense, withId(id), live);

/** The best matches for `text`, in every state. */
export const findLicenses = (text: string, limit: number, signal: AbortSignal) =>
  call(licenses.list, { query: { search: readDay(text), limit: String(limit) } }, { signal });

/** The license with this key, or null. */
export const licenseByKeyQuery = (key: string) =>
  queryOptions({
    queryKey: ['licenses', 'by key', key],
    queryFn: async ({ signal }) => {
      const { data } = await findLicenses(key, 1, signal);
      return data.find((one) => one.licenseKey === key.toUpperCase()) ?? null;
    },
  });

/** Machines that revoking these licenses refuses, or reactivating them accepts again. */
export const licenseImpactQuery = (changed: readonly License[]) => {
  const ids = changed.map(({ licenseId }) => licenseId);
  return queryOf(licenses.impact, { query: { ids: ids.join(',') } }, askedOnce);
};

/** What a transfer to this customer would change. */
export const transferImpactQuery = (id: string, customerId: string) =>
  queryOf(licenses.transferImpact, { ...withId(id), query: { customerId } }, askedOnce);

export type LicensePayload = RouteRequest<typeof licenses.create>['body'];
type Update = RouteRequest<typeof licenses.update>['body'];

export const createLicense = (body: LicensePayload) => call(licenses.create, { body });
export const updateLicense = (id: string, body: Update) => call(licenses.update, { ...withId(id), body });
export const transferLicense = (id: string, customerId: string, updatedAt: string) =>
  call(licenses.transfer, { ...withId(id), body: { customerId, updatedAt } });
/** The license as it was shown: a colleague may have transferred it. */
export const revokeLicense = ({ licenseId, updatedAt }: License) =>
  call(licenses.revoke, { ...withId(licenseId), query: { updatedAt } });
/** The license as it was shown, or as its revocation returned it. */
export const reactivateLicense = ({ licenseId, updatedAt }: License) =>
  call(licenses.reactivate, { ...withId(licenseId), query: { updatedAt } });

const withId = (id: string) => ({ params: { id } });
