import type { Updateable } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { licenseRefusal } from '../../../contract/license-state.ts';
import { moduleLabel } from '../../../contract/module-ids.ts';
import type { License, LicenseInput, LicensePatch } from '../../../contract/licenses.ts';
import { changedFields, type Change } from '../../change.ts';
import type { Db, Tx } from '../../db/client.ts';
import type { Tables } from '../../db/tables.ts';
import { withPatch } from '../../with-patch.ts';
import { editRecord, lockAllowed, unseenRefusal, type Editable } from '../../edit-record.ts';
import { breaksRule, isFailure, noSuch, type Failure } from '../../failure.ts';
import { unknownModules } from '../modules/index.ts';
import { newLicenseKey } from './license-key.ts';
import { keepPastOwner } from './past-owners.ts';
import { lockLicense, selectLicenses, toLicense } from './license-row.ts';

const notFound = noSuch('license');

export async function getLicense(db: Db, id: string): Promise<License | Failure> {
  const row = await selectLicenses(db).where('l.license_id', '=', id).executeTakeFirst();
  return row ? toLicense(row) : notFound;
}

/** Issues a license with a new key to a customer that is not soft-deleted. */
export async function createLicense(change: Change, input: LicenseInput): Promise<License | Failure> {
  const { tx, now } = change;
  const wrong = (await refuseCustomer(tx, input.customerId)) ?? (await refuseModules(tx, input.moduleIds));
  if (wrong) return wrong;
  const license_id = uuidv7();
  await tx
    .insertInto('licenses')
    .values({
      license_id,
      license_key: newLicenseKey(input.type),
      ...toColumns(input),
      created_at: now,
      updated_at: now,
    })
    .execute();
  await change.announce('licenses');
  const license = await read(tx, license_id);
  await change.audit('license.created', license, {
    what: `issued to ${license.customer?.name} (${license.type})`,
    after: license,
  });
  return license;
}

/**
 * Changes a license that is not revoked. `seen` is the version that the edit started from; a newer stored one is an
 * EDIT_CONFLICT with the differences. Fewer seats than machines that hold one take none of theirs.
 */
export async function updateLicense(
  change: Change,
  id: string,
  patch: LicensePatch,
  seen: string | undefined,
): Promise<License | Failure> {
  const { tx } = change;
  // Lock the new customer before the license, the same order as everywhere.
  const wrongCustomer =
    patch.customerId === undefined ? undefined : await refuseCustomer(tx, patch.customerId);
  return editRecord(change, editable, id, {
    event: 'license.updated',
    refuse: licenseRefusal.update,
    sent: patch,
    seen,
    check: async (before) => {
      // modules that the license already has may stay, even if they no longer exist
      const added = patch.moduleIds?.filter((moduleId) => !before.moduleIds.includes(moduleId)) ?? [];
      return wrongCustomer ?? refusePatch(before, patch) ?? (await refuseModules(tx, added));
    },
    columns: (before) => toColumns(withPatch(before, patch)),
    what: (before, after) => changedFields(withModuleNames(before), withModuleNames(after)),
  });
}

const withModuleNames = ({ moduleIds, ...license }: License) => ({
  ...license,
  modules: moduleIds.map(moduleLabel),
});

/** Revokes a license: its machines are refused at their next validation. `seen`: the version that the caller was shown. */
export const revokeLicense = (change: Change, id: string, seen?: string): Promise<License | Failure> =>
  editRecord(change, editable, id, {
    event: 'license.revoked',
    refuse: (before) => licenseRefusal.revoke(before) ?? unseenRefusal('license', before, seen),
    columns: { status: 'revoked' },
  });

/** Makes a revoked license valid again; the machines keep their seats. `seen` as in `revokeLicense`. */
export const reactivateLicense = (change: Change, id: string, seen?: string): Promise<License | Failure> =>
  editRecord(change, editable, id, {
    event: 'license.reactivated',
    refuse: (before) => licenseRefusal.reactivate(before) ?? unseenRefusal('license', before, seen),
    columns: { status: 'active' },
  });

/** Permanently removes a revoked license and its activations. */
export async function deleteLicense(change: Change, id: string): Promise<undefined | Failure> {
  const before = await lockAllowed(change, editable, id, licenseRefusal.delete);
  if (isFailure(before)) return before;
  await keepPastOwner(change.tx, before, change.now);
  await change.tx.deleteFrom('licenses').where('license_id', '=', id).execute();
  await change.announce('licenses');
  await change.audit('license.deleted', before, { before });
  return undefined;
}

/** A license, locked and written. The previous owner is kept, for the timelines of customers. */
export const editable: Editable<License, Updateable<Tables['licenses']>> = {
  name: 'license',
  lock: async ({ tx }, id) => (await lockLicense(tx, id)) ?? notFound,
  async write(change, before, columns) {
    const { licenseId } = before;
    if (columns.customer_id !== undefined && columns.customer_id !== before.customerId)
      await keepPastOwner(change.tx, before, change.now);
    await change.tx.updateTable('licenses').set(columns).where('license_id', '=', licenseId).execute();
    await change.announce('licenses');
    return read(change.tx, licenseId);
  },
};

const read = async (db: Db, id: string): Promise<License> =>
  toLicense(await selectLicenses(db).where('l.license_id', '=', id).executeTakeFirstOrThrow());

/** Refuses fields that are valid on their own but conflict with the stored ones. */
export function refusePatch(before: License, patch: LicensePatch): Failure | undefined {
  const { validFrom, validUntil } = withPatch(before, patch);
  return validFrom >= validUntil ? breaksRule('validUntil', 'Must be after Valid From') : undefined;
}

/** Share-locks the row, so that the customer cannot be deleted before the license exists. */
export async function refuseCustomer(tx: Tx, customerId: string): Promise<Failure | undefined> {
  const row = await tx
    .selectFrom('customers')
    .select('deleted_at')
    .where('customer_id', '=', customerId)
    .forShare()
    .executeTakeFirst();
  if (!row) return breaksRule('customerId', 'There is no such customer');
  return row.deleted_at ? breaksRule('customerId', 'Customer is soft-deleted') : undefined;
}

/** Refuses modules that do not exist. */
export async function refuseModules(db: Db, moduleIds: string[]): Promise<Failure | undefined> {
  const unknown = await unknownModules(db, moduleIds);
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
