import { isDeepStrictEqual } from 'node:util';
import {
  mostInBulk,
  type BulkChange,
  type BulkPreview,
  type BulkResult,
  type bulkLicenses as calls,
  type PlannedChange,
  type ValuesToSet,
} from '../../../contract/license-bulk.ts';
import { extended } from '../../../contract/license-term.ts';
import { licenseRefusal } from '../../../contract/license-state.ts';
import type { License } from '../../../contract/licenses.ts';
import type { RouteInput } from '../../../contract/route.ts';
import type { Change } from '../../change.ts';
import type { Db } from '../../db/client.ts';
import { breaksRule, isFailure, type Failure } from '../../failure.ts';
import { impactOfLicenses } from './license-impact.ts';
import { matchingLicenses } from './license-list.ts';
import { toLicense } from './license-row.ts';
import { reactivateLicense, refuseModules, refusePatch, revokeLicense, updateLicense } from './licenses.ts';

type Asked = RouteInput<typeof calls.preview>;

/** What the change would do to each license, by the rules that `changeLicenses` applies. Changes nothing. */
export async function previewBulk(
  db: Db,
  now: Date,
  { sort, ...filter }: Asked['query'],
  { ids, change }: Asked['body'],
): Promise<BulkPreview | Failure> {
  const wrong = change.kind === 'modules' ? await refuseModules(db, change.add) : undefined;
  if (wrong) return wrong;
  const matching = await matchingLicenses(db, now, { ...filter, ids }, sort);
  const rows = await matching.query.limit(mostInBulk + 1).execute();
  if (rows.length > mostInBulk)
    return breaksRule('licenses', `More than ${mostInBulk} licenses match. Narrow the filter`);
  const preview: BulkPreview = { changed: [], leftOut: [], machines: null, offline: 0 };
  for (const license of rows.map(toLicense)) {
    const { licenseId, licenseKey, customerId, customer, updatedAt } = license;
    const named = { licenseId, licenseKey, customerId, customerName: customer?.name ?? '' };
    const planned = plan(license, change);
    if (typeof planned === 'string') preview.leftOut.push({ ...named, reason: planned });
    else preview.changed.push({ ...named, updatedAt, ...planned });
  }
  if (change.kind !== 'status') return preview;
  const changedIds = preview.changed.map(({ licenseId }) => licenseId);
  const { machines, offline } = await impactOfLicenses(db, now, changedIds);
  return { ...preview, machines, offline };
}

/** The values before and after, or why the license stays as it is. */
function plan(license: License, change: BulkChange): Pick<PlannedChange, 'before' | 'after'> | string {
  if (change.kind === 'status') return planStatus(license, change.status);
  const planned =
    licenseRefusal.update(license) ??
    (change.kind === 'modules' ? planModules(license, change) : planEnd(license, endOf(license, change)));
  if (typeof planned === 'string') return planned;
  return refusePatch(license, planned.after)?.message ?? planned;
}

const planStatus = (license: License, status: License['status']) =>
  licenseRefusal[status === 'revoked' ? 'revoke' : 'reactivate'](license) ?? {
    before: { status: license.status },
    after: { status },
  };

function endOf({ validUntil }: License, change: Exclude<BulkChange, { kind: 'modules' | 'status' }>): string {
  if (change.kind === 'extendTo') return change.validUntil;
  return extended(
    validUntil,
    change.kind === 'extendByDays' ? { days: change.days } : { months: change.months },
  );
}

const planEnd = ({ validUntil }: License, end: string) =>
  end > validUntil
    ? { before: { validUntil }, after: { validUntil: end } }
    : 'Ends on that day or later already';

function planModules({ moduleIds }: License, { add, remove }: Extract<BulkChange, { kind: 'modules' }>) {
  const after = [...new Set([...moduleIds, ...add])].filter((moduleId) => !remove.includes(moduleId));
  return isDeepStrictEqual(after, moduleIds)
    ? 'Has these modules already'
    : { before: { moduleIds }, after: { moduleIds: after } };
}

/**
 * Sets the values of each license whose version is the one that was seen. A license that is refused does not keep the
 * others from changing. Locks in the order of ids, so that two such changes do not wait for each other in a circle.
 */
export async function changeLicenses(change: Change, wanted: ValuesToSet[]): Promise<BulkResult> {
  const result: BulkResult = { changed: [], refused: [] };
  for (const { licenseId, updatedAt: seen, status, ...values } of wanted.toSorted(byId)) {
    const license = status
      ? await (status === 'revoked' ? revokeLicense : reactivateLicense)(change, licenseId, seen)
      : await updateLicense(change, licenseId, values, seen);
    if (isFailure(license)) result.refused.push({ licenseId, reason: reasonOf(license) });
    else result.changed.push({ licenseId, updatedAt: license.updatedAt });
  }
  return result;
}

const byId = (a: ValuesToSet, b: ValuesToSet) => (a.licenseId < b.licenseId ? -1 : 1);

const reasonOf = ({ failure, message }: Failure) =>
  failure === 'EDIT_CONFLICT' ? 'Was changed by someone else meanwhile' : message;
