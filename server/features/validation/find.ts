import type { Pool } from 'pg';
import type { LicenseType } from '../../../contract/licenses.ts';
import { batchLoader } from '../../db/batch-loader.ts';
import type { ActivationRow } from '../activations/index.ts';

export type Finder = (asked: { key: string; machineId: string }) => Promise<Found | undefined>;

/** The result of one query for a license, its owner and this machine. */
export type Found = {
  license_id: string;
  license_key: string;
  customer_id: string;
  type: LicenseType;
  status: 'active' | 'revoked';
  valid_from: Date;
  valid_until: Date;
  max_activations: number;
  current_activations: number;
  customer_status: 'active' | 'inactive';
  customer_deleted_at: Date | null;
  module_ids: string[];
  activation_id: string | null;
  activation_status: ActivationRow['status'] | null;
  activation_type: ActivationRow['activation_type'] | null;
  activation_created_at: Date | null;
  last_checked_at: Date | null;
  offline_until: Date | null;
  /** The first end of an offline seat, if no seat of the license is free. */
  first_offline_end: Date | null;
};

type Seat = 'activation_id' | 'activation_status' | 'activation_type' | 'activation_created_at';
/** For a machine with an activation of any status. */
export type FoundSeat = Found & { [K in Seat]: NonNullable<Found[K]> };

export const hasSeat = (found: Found): found is FoundSeat => found.activation_id !== null;

/** Named, so that PostgreSQL plans it once per connection: this is the most frequent query. */
const findQuery = {
  name: 'validation-find',
  text: `select l.license_id, l.license_key, l.customer_id, l.type, l.status, l.valid_from, l.valid_until,
                l.max_activations, l.current_activations,
                c.status as customer_status, c.deleted_at as customer_deleted_at,
                l.module_ids,
                a.activation_id, a.status as activation_status, a.activation_type,
                a.created_at as activation_created_at, a.last_checked_at, a.offline_until,
                case when l.current_activations >= l.max_activations then
                  (select min(offline_until) from activations where license_id = l.license_id and status = 'active')
                end as first_offline_end,
                asked.place::int
           from unnest($1::text[], $2::text[]) with ordinality as asked (license_key, machine_id, place)
           join licenses l using (license_key)
           join customers c using (customer_id)
           left join activations a on a.license_id = l.license_id and a.machine_id = asked.machine_id`,
};

/** Finds the license of a key, and the seat of a machine on it. Concurrent validations share a query. */
export function createFinder(pool: Pool): Finder {
  return batchLoader(async (asked) => {
    const found: (Found | undefined)[] = asked.map(() => undefined);
    const values = [asked.map(({ key }) => key), asked.map(({ machineId }) => machineId)];
    const { rows } = await pool.query<Found & { place: number }>({ ...findQuery, values });
    for (const row of rows) found[row.place - 1] = row;
    return found;
  });
}
