import { v7 as uuidv7 } from 'uuid';
import {
  licenseRefusal,
  type License,
  type LicenseInput,
  type LicensePatch,
} from '../../../contract/licenses.ts';
import type { Caller } from '../../caller.ts';
import type { Db, Tx } from '../../db/client.ts';
import { announce } from '../../db/signals.ts';
import { nextVersion } from '../../db/sql.ts';
import { editConflict } from '../../edit-conflict.ts';
import { breaksRule, fail, type Failure } from '../../failure.ts';
import { changeSummary, writeAudit } from '../audit/audit.ts';
import { unknownModules } from '../modules/modules.ts';
import { newLicenseKey, parseLicenseKey } from './license-key.ts';
import { lockLicense, selectLicenses, toLicense } from './license-row.ts';

export { createLicenseCounts, exportLicenses, listLicenses } from './license-list.ts';
export { impactOfCustomers, impactOfLicenses } from './license-impact.ts';
export { parseLicenseKey } from './license-key.ts';

const notFound = fail('NOT_FOUND', 'There is no such license.');

/** One license with its owner. */
export async function getLicense(db: Db, id: string): Promise<License | Failure> {
  const row = await selectLicenses(db).where('l.license_id', '=', id).executeTakeFirst();
  return row ? toLicense(row) : notFound;
}

/** The id of the license with this key, however it was typed. */
export async function findLicenseId(db: Db | Tx, typedKey: string): Promise<string | undefined> {
  const key = parseLicenseKey(typedKey);
  if (!key) return undefined;
  const row = await db
    .selectFrom('licenses')
    .select('license_id')
    .where('license_key', '=', key)
    .executeTakeFirst();
  return row?.license_id;
}

/** Issues a license to a customer that is not soft-deleted. The key is made here. */
export async function createLicense(tx: Tx, by: Caller, input: LicenseInput): Promise<License | Failure> {
  const wrong = (await refuseCustomer(tx, input.customerId)) ?? (await refuseModules(tx, input.moduleIds));
  if (wrong) return wrong;
  const license_id = uuidv7();
  await tx
    .insertInto('licenses')
    .values({
      license_id,
      license_key: newLicenseKey(input.type),
      ...toColumns(input),
      created_at: by.now,
      updated_at: by.now,
    })
    .execute();
  await announce(tx, 'licenses');
  const license = toLicense(
    await selectLicenses(tx).where('l.license_id', '=', license_id).executeTakeFirstOrThrow(),
  );
  await audit(tx, by, 'license.created', license, {
    summary: `Issued ${license.licenseKey} (${license.type}) to ${license.customer!.name}`,
    after: license,
  });
  return license;
}

/**
 * Changes a license that is not revoked. `seen` is the version that the person began from; a newer stored one is
 * an EDIT_CONFLICT that says what differs. Seats can not be cut below the machines that hold one.
 */
export async function updateLicense(
  tx: Tx,
  by: Caller,
  id: string,
  patch: Omit<LicensePatch, 'updatedAt'>,
  seen: string | undefined,
): Promise<License | Failure> {
  // The new customer is locked before the license: whoever locks both takes them in this order.
  const wrongCustomer =
    patch.customerId === undefined ? undefined : await refuseCustomer(tx, patch.customerId);
  const before = await lockLicense(tx, id);
  if (!before) return notFound;
  const reason = licenseRefusal.update(before);
  if (reason) return fail('WRONG_STATE', `${reason}.`);
  const conflict = editConflict('license', before, patch, seen);
  if (conflict) return conflict;
  const wrong = wrongCustomer ?? refusePatch(before, patch) ?? (await refuseAdded(tx, before, patch));
  if (wrong) return wrong;
  return change(tx, by, before, toColumns({ ...before, ...patch }), {
    event: 'license.updated',
    summary: (after) => changeSummary(before, after),
  });
}

/** Revokes a license: its machines are refused with their next validation. */
export async function revokeLicense(tx: Tx, by: Caller, id: string): Promise<License | Failure> {
  const before = await lockLicense(tx, id);
  if (!before) return notFound;
  const reason = licenseRefusal.revoke(before);
  if (reason) return fail('WRONG_STATE', `${reason}.`);
  return change(
    tx,
    by,
    before,
    { status: 'revoked' },
    {
      event: 'license.revoked',
      summary: () => `Revoked ${before.licenseKey}`,
    },
  );
}

/** Makes a revoked license valid again; the machines keep their seats. */
export async function reactivateLicense(tx: Tx, by: Caller, id: string): Promise<License | Failure> {
  const before = await lockLicense(tx, id);
  if (!before) return notFound;
  const reason = licenseRefusal.reactivate(before);
  if (reason) return fail('WRONG_STATE', `${reason}.`);
  return change(
    tx,
    by,
    before,
    { status: 'active' },
    {
      event: 'license.reactivated',
      summary: () => `Reactivated ${before.licenseKey}`,
    },
  );
}

/** Removes a revoked license and its activations for good. */
export async function deleteLicense(tx: Tx, by: Caller, id: string): Promise<undefined | Failure> {
  const before = await lockLicense(tx, id);
  if (!before) return notFound;
  const reason = licenseRefusal.delete(before);
  if (reason) return fail('WRONG_STATE', `${reason}.`);
  await tx.deleteFrom('licenses').where('license_id', '=', id).execute();
  await announce(tx, 'licenses');
  await audit(tx, by, 'license.deleted', before, {
    summary: `Permanently deleted ${before.licenseKey}`,
    before,
  });
  return undefined;
}

type Columns = Partial<ReturnType<typeof toColumns>> & { status?: License['status'] };

async function change(
  tx: Tx,
  by: Caller,
  before: License,
  set: Columns,
  { event, summary }: { event: string; summary: (after: License) => string },
): Promise<License> {
  await tx
    .updateTable('licenses')
    .set({ ...set, updated_at: nextVersion(new Date(before.updatedAt), by.now) })
    .where('license_id', '=', before.licenseId)
    .execute();
  await announce(tx, 'licenses');
  const row = await selectLicenses(tx).where('l.license_id', '=', before.licenseId).executeTakeFirstOrThrow();
  const after = toLicense(row);
  await audit(tx, by, event, after, { summary: summary(after), before, after });
  return after;
}

/** Two parts of a patch can each be right and yet not go together with what is stored. */
function refusePatch(before: License, patch: LicensePatch): Failure | undefined {
  const { validFrom, validUntil } = { ...before, ...patch };
  if (validFrom >= validUntil) return breaksRule('validUntil', 'Must be after Valid From');
  const seats = patch.maxActivations ?? before.maxActivations;
  if (seats < before.currentActivations) {
    return breaksRule(
      'maxActivations',
      `${before.currentActivations} machines are active. Deactivate machines first, or keep at least as many activations`,
    );
  }
  return undefined;
}

/** Modules that the license has already may stay, whatever became of them. */
function refuseAdded(tx: Tx, before: License, patch: LicensePatch): Promise<Failure | undefined> {
  return refuseModules(tx, patch.moduleIds?.filter((id) => !before.moduleIds.includes(id)) ?? []);
}

/** The row stays share-locked, so that the customer cannot be deleted before the license is there. */
async function refuseCustomer(tx: Tx, customerId: string): Promise<Failure | undefined> {
  const row = await tx
    .selectFrom('customers')
    .select('deleted_at')
    .where('customer_id', '=', customerId)
    .forShare()
    .executeTakeFirst();
  if (!row) return breaksRule('customerId', 'There is no such customer');
  return row.deleted_at ? breaksRule('customerId', 'Customer is soft-deleted') : undefined;
}

async function refuseModules(tx: Tx, moduleIds: string[]): Promise<Failure | undefined> {
  const unknown = await unknownModules(tx, moduleIds);
  return unknown.length > 0 ? breaksRule('moduleIds', `There is no module ${unknown[0]}`) : undefined;
}

function toColumns(input: LicenseInput) {
  return {
    customer_id: input.customerId,
    type: input.type,
    valid_from: new Date(input.validFrom),
    valid_until: new Date(input.validUntil),
    max_activations: input.maxActivations,
    module_ids: input.moduleIds,
  };
}

function audit(
  tx: Tx,
  by: Caller,
  event: string,
  { licenseId }: License,
  what: { summary: string; before?: object; after?: object },
) {
  return writeAudit(tx, by, { event, resourceType: 'license', resourceId: licenseId, ...what });
}
