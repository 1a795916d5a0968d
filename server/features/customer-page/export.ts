import type { z } from 'zod';
import { utcDay } from '../../../contract/durations.ts';
import { refusedExported, type customerExport } from '../../../contract/customer-page.ts';
import { policyFields } from '../../../contract/policies.ts';
import { may, mayRead, personOf, type Caller } from '../../caller.ts';
import { runChange, type ChangeParts } from '../../change.ts';
import { inPieces } from '../../csv.ts';
import type { Db } from '../../db/client.ts';
import { isFailure, type Failure } from '../../failure.ts';
import type { DownloadFile } from '../../http/call.ts';
import { jsonStream } from '../../json-file.ts';
import { selectLicenses, toLicense } from '../licenses/index.ts';
import { policyOnPage } from '../policies/index.ts';
import { idsOfMachines, readMachines } from './machines.ts';
import { overviewOf, type PageParts } from './overview.ts';
import { wholeTimeline } from './timeline.ts';

type Export = z.output<typeof customerExport>;
/** The file before it is written: the long lists are read while it is sent. */
type Streamed = { [Name in keyof Export]: Export[Name] | AsyncIterable<unknown> };

/**
 * Everything about a customer that the caller may read, as one JSON file; the file names what it omits. Records who
 * exported it. The timeline needs audit:export, like every file of the audit log.
 */
export async function exportCustomer(
  parts: PageParts & ChangeParts,
  by: Caller,
  customerId: string,
): Promise<DownloadFile | Failure> {
  const { db } = parts;
  const [overview, policy] = await Promise.all([
    overviewOf(parts, by, customerId, refusedExported),
    policyOnPage(db, customerId),
  ]);
  if (isFailure(overview)) return overview;
  if (isFailure(policy)) return policy;
  const { customer, tags, seats, refused, releases } = overview;
  const readsLicenses = mayRead(by, 'licenses');
  const exportsAudit = may(by, 'audit', 'export');
  const omitted = [
    ...(readsLicenses
      ? []
      : ['seats', 'refusedTotals', 'refusedValidations', 'licenses', 'machines'].map((part) => ({
          part,
          needs: 'licenses:read',
        }))),
    ...(releases ? [] : [{ part: 'releases', needs: 'releases:read' }]),
    ...(exportsAudit ? [] : [{ part: 'timeline', needs: 'audit:export' }]),
  ];
  const what = `exported${omitted.length > 0 ? ` without ${omitted.map(({ part }) => part).join(', ')}` : ''}`;
  await runChange(parts, by, (change) => change.audit('customer.exported', customer, { what }));
  const file: Streamed = {
    format: 'lanyard-customer',
    formatVersion: 1,
    exportedAt: by.now.toISOString(),
    exportedBy: personOf(by).email,
    omitted,
    customer,
    tags,
    updatePolicy: Object.fromEntries(
      Object.keys(policyFields).map((field) => [field, policy.own[field as keyof typeof policyFields]]),
    ) as Export['updatePolicy'],
    policy: overview.policy,
    ...(seats && { seats }),
    ...(refused && {
      refusedTotals: { validations: refused.total, groups: refused.groups },
      refusedValidations: refused.latest.map(withoutDisplayId),
    }),
    ...(releases && { releases }),
    ...(readsLicenses && { licenses: licensesOf(db, customerId), machines: machinesOf(db, customerId) }),
    ...(exportsAudit && { timeline: wholeTimeline(db, customerId) }),
  };
  return {
    fileName: `customer-${customerId}-${utcDay(by.now)}.json`,
    stream: jsonStream(file),
  };
}

async function* licensesOf(db: Db, customerId: string) {
  const found = await db
    .selectFrom('licenses')
    .select('license_id')
    .where('customer_id', '=', customerId)
    .orderBy('created_at')
    .orderBy('license_id')
    .execute();
  const pieces = inPieces(
    found.map((row) => row.license_id),
    (ids) => selectLicenses(db).where('l.license_id', 'in', ids).execute(),
    (row) => row.license_id,
  );
  for await (const rows of pieces)
    for (const row of rows) {
      const { customer: _, ...license } = toLicense(row);
      // transferred while the file is written
      if (license.customerId === customerId) yield license;
    }
}

async function* machinesOf(db: Db, customerId: string) {
  const pieces = inPieces(
    await idsOfMachines(db, customerId),
    (ids) => readMachines(db, customerId, ids),
    (machine) => machine.activationId,
  );
  for await (const machines of pieces)
    for (const machine of machines) {
      const { releaseId: _, ...rest } = withoutDisplayId(machine);
      yield rest;
    }
}

function withoutDisplayId<Row extends { displayId: unknown }>(row: Row): Omit<Row, 'displayId'> {
  const { displayId: _, ...rest } = row;
  return rest;
}
