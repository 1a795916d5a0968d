import type { Pool } from 'pg';
import type { LicenseType } from '../../../contract/licenses.ts';
import { batchLoader } from '../../db/batch-loader.ts';
import type { Facts } from '../../db/facts.ts';
import { recordHashText } from '../../db/sql.ts';
import type { ActivationRow } from '../activations/index.ts';

type Asked = { key: string; machineId: string };

/** Finds the license of a key and the seat of a machine on it, or both by the token of the machine. */
export type SeatFinder = {
  /** The seat of a machine, if the process knows that the machine holds it online. */
  kept(asked: Asked): FoundSeat | undefined;
  /** The license, and the seat of the machine, as the database has them. */
  find(asked: Asked): Promise<Found | undefined>;
  /** The seat of a token and the credential, from memory or the database; undefined for a token that is not known. */
  findByToken(tokenId: string): Promise<EnrolledSeat | undefined>;
};

/** The active seat that a token is for, with the credential. */
export type EnrolledSeat = FoundSeat & {
  machine_id: string;
  /** Names the record of the machine, in hex. */
  machine_hash: string;
  /** In hex: a small Buffer would keep the whole block alive in which it was allocated. */
  secret_hash: string;
};

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

/** Named, so that PostgreSQL plans them once per connection: these are the most frequent queries. */
const columns = `l.license_id, l.license_key, l.customer_id, l.type, l.status, l.valid_from, l.valid_until,
                l.max_activations, l.current_activations,
                c.status as customer_status, c.deleted_at as customer_deleted_at,
                l.module_ids,
                a.activation_id, a.status as activation_status, a.activation_type,
                a.created_at as activation_created_at, a.last_checked_at, a.offline_until,
                case when l.current_activations >= l.max_activations then
                  (select min(offline_until) from activations where license_id = l.license_id and status = 'active')
                end as first_offline_end,
                asked.place::int`;
const findQuery = {
  name: 'validation-find',
  text: `select ${columns}
           from unnest($1::text[], $2::text[]) with ordinality as asked (license_key, machine_id, place)
           join licenses l using (license_key)
           join customers c using (customer_id)
           left join activations a on a.license_id = l.license_id and a.machine_id = asked.machine_id`,
};
const findByTokenQuery = {
  name: 'validation-find-by-token',
  text: `select ${columns}, a.machine_id, encode(m.secret_hash, 'hex') as secret_hash,
                encode(${recordHashText('m', 'a')}, 'hex') as machine_hash
           from unnest($1::text[]) with ordinality as asked (token_id, place)
           join machine_credentials m using (token_id)
           join activations a on a.activation_id = m.activation_id and a.status = 'active'
           join licenses l using (license_id)
           join customers c using (customer_id)`,
};

const recordsOf = ({ license_id, customer_id, activation_id }: FoundSeat) => [
  license_id,
  customer_id,
  activation_id,
];
const keyOf = ({ key, machineId }: Asked) => `${key} ${machineId}`;

/** An online seat: for one with a license file, the database decides under a lock. */
const isOnline = (found: Found): found is FoundSeat =>
  hasSeat(found) && found.activation_status === 'active' && found.offline_until === null;

/** Whether license and customer are active: what is kept of a token refuses none. */
export const isLicensed = ({ status, customer_status, customer_deleted_at }: Found): boolean =>
  status === 'active' && customer_status === 'active' && customer_deleted_at === null;

/** Texts that most seats share are kept once. */
const shared = new Map<string, unknown>();
const mostShared = 1000;
function sharing<T>(value: T): T {
  const text = JSON.stringify(value);
  if (shared.size >= mostShared) shared.clear();
  if (!shared.has(text)) shared.set(text, value);
  return shared.get(text) as T;
}

/** What a valid answer needs; the rest of a row would take most of the memory. */
const toKept = <S extends FoundSeat>(seat: S): S => ({
  ...seat,
  type: sharing(seat.type),
  status: sharing(seat.status),
  customer_status: sharing(seat.customer_status),
  module_ids: sharing(seat.module_ids),
  activation_status: sharing(seat.activation_status),
  activation_type: sharing(seat.activation_type),
  last_checked_at: null,
  // an ended license file of another machine is handled when it is read, not at each call
  first_offline_end: null,
});

/** An estimate. The entries of a token and its seat share the object, which is counted twice. */
const bytesOf = (key: string, { module_ids }: FoundSeat) =>
  1100 + 2 * key.length + module_ids.reduce((sum, id) => sum + 32 + id.length, 0);

/** Finds seats. Concurrent calls share a query, which also fills what is kept. */
export function createSeatFinder(pool: Pool, facts: Facts): SeatFinder {
  const seats = facts.kind<FoundSeat>({ recordsOf: (_, seat) => recordsOf(seat), bytesOf });
  const tokens = facts.kind<EnrolledSeat>({ recordsOf: (_, seat) => recordsOf(seat), bytesOf });

  const find = batchLoader(async (asked: Asked[]) => {
    const keep = seats.reading();
    const values = [asked.map(({ key }) => key), asked.map(({ machineId }) => machineId)];
    const { rows } = await pool.query<Found & Placed>({ ...findQuery, values });
    const found = inPlace(asked, rows);
    asked.forEach((one, i) => {
      const seat = found[i];
      if (seat && isOnline(seat)) keep(keyOf(one), toKept(seat));
    });
    return found;
  });

  const findToken = batchLoader(async (asked: string[]) => {
    const [keepSeat, keepToken] = [seats.reading(), tokens.reading()];
    const { rows } = await pool.query<EnrolledSeat & Placed>({ ...findByTokenQuery, values: [asked] });
    const found = inPlace(asked, rows);
    asked.forEach((tokenId, i) => {
      if (!found[i]) return;
      const seat = toKept(found[i]);
      if (isLicensed(seat)) keepToken(tokenId, seat);
      if (isOnline(seat)) keepSeat(keyOf({ key: seat.license_key, machineId: seat.machine_id }), seat);
    });
    return found;
  });

  return {
    kept: (asked) => seats.get(keyOf(asked)),
    find,
    findByToken: async (tokenId) => tokens.get(tokenId) ?? findToken(tokenId),
  };
}

type Placed = { place: number };

/** The rows in the order in which they were asked for; a row may be missing. */
function inPlace<Row extends Placed>(asked: readonly unknown[], rows: readonly Row[]): (Row | undefined)[] {
  const found: (Row | undefined)[] = asked.map(() => undefined);
  for (const row of rows) found[row.place - 1] = row;
  return found;
}
