import type { SubjectOf } from '../../../contract/audit-events.ts';
import { dayMs } from '../../../contract/durations.ts';
import type { RouteAnswer } from '../../../contract/route.ts';
import type { validation as calls } from '../../../contract/validation.ts';
import type { Change } from '../../change.ts';
import { plausibleNow } from '../../checked-time.ts';
import { exists } from '../../db/sql.ts';
import { leaveSeat, selfReleaseDay, selfReleasesOn, toActivation } from '../activations/index.ts';
import { entriesAbout } from '../audit/index.ts';
import { parseLicenseKey } from '../licenses/index.ts';
import { dayNumber } from './day-counts.ts';

/**
 * Releases a machine's own seat; the machine may return later. No effect when it holds none. Limited to
 * `releasesPerSeat` per seat and UTC day: otherwise one seat would serve any number of machines in turn. Not while more
 * machines are active than the license has seats, since no other gets such a seat.
 */
export async function releaseSeat(
  change: Change,
  releasesPerSeat: number,
  { licenseKey, machineId }: { licenseKey: string; machineId: string },
): Promise<RouteAnswer<typeof calls.releaseSeat>> {
  const { tx, by } = change;
  const key = parseLicenseKey(licenseKey);
  const license = await tx
    .selectFrom('licenses')
    .select(['license_id', 'license_key', 'max_activations', 'current_activations', selfReleasesOn(by.now)])
    .where('license_key', '=', key ?? '')
    .forUpdate()
    .executeTakeFirst();
  const row =
    license &&
    (await tx
      .selectFrom('activations as a')
      .leftJoin('machine_credentials as m', 'm.activation_id', 'a.activation_id')
      .selectAll('a')
      .select(({ eb }) => eb('m.activation_id', 'is not', null).as('is_enrolled'))
      .where('a.license_id', '=', license.license_id)
      .where('a.machine_id', '=', machineId)
      .where('a.status', '=', 'active')
      .executeTakeFirst());
  if (!row)
    return { released: false, code: 'NO_SEAT', message: 'This machine holds no seat on this license.' };
  if (row.offline_until && row.offline_until > (await plausibleNow(tx, by.now)))
    return {
      released: false,
      code: 'OFFLINE_SEAT',
      message: 'This machine holds a license file. Give it back in the program: its receipt frees the seat.',
    };
  // or whoever has unpacked the program could free the seat, and enroll with a key pair of their own
  if (row.is_enrolled && by.actor.kind === 'apiKey')
    return {
      released: false,
      code: 'ENROLLED_SEAT',
      message: 'This machine is enrolled, so only its own token frees its seat.',
    };
  const isAbove = license.current_activations > license.max_activations;
  if (!isAbove && (by.actor.kind === 'apiKey' || by.actor.kind === 'machine')) {
    const budget = license.max_activations * releasesPerSeat;
    if (license.self_releases_today >= budget)
      return tooManyReleases(change, { ...toActivation(row), licenseKey: license.license_key }, budget);
    await tx
      .updateTable('licenses')
      .set({ self_release_day: selfReleaseDay(by.now), self_releases: license.self_releases_today + 1 })
      .where('license_id', '=', license.license_id)
      .execute();
  }
  await leaveSeat(change, row, 'released');
  return { released: true, code: 'RELEASED', message: 'The seat is free again.' };
}

/** Told once a machine and UTC day: whoever has the API key could fill the audit log. */
async function tooManyReleases(
  change: Change,
  activation: SubjectOf<'activation.release_refused'> & { activationId: string },
  budget: number,
): Promise<RouteAnswer<typeof calls.releaseSeat>> {
  const message = `The daily limit of ${budget} released seats for this license is reached. Try again tomorrow, or ask the vendor to free the seat.`;
  const today = dayNumber(change.now) * dayMs;
  const told = entriesAbout(change.tx, 'activation', activation.activationId)
    .where('event_type', '=', 'activation.release_refused')
    .where('timestamp', '>=', new Date(today))
    .where('timestamp', '<', new Date(today + dayMs));
  if (!(await exists(told)))
    await change.audit('activation.release_refused', activation, {
      what: `may not give its seat back: ${budget} releases today`,
      error: message,
    });
  return { released: false, code: 'TOO_MANY_RELEASES', message };
}
