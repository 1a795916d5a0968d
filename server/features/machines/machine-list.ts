import { sql, type RawBuilder } from 'kysely';
import { daysFrom, utcDay } from '../../../contract/durations.ts';
import type {
  MachineStanding,
  MachineState,
  machineStandings as calls,
} from '../../../contract/machine-standing.ts';
import type { RouteAnswer, RouteInput } from '../../../contract/route.ts';
import { mayRead, type Caller } from '../../caller.ts';
import { runChange, type ChangeParts } from '../../change.ts';
import type { Context } from '../../context.ts';
import { csvStream, inPieces } from '../../csv.ts';
import type { Db } from '../../db/client.ts';
import { contains, heardOf } from '../../db/sql.ts';
import { type Failure, isFailure } from '../../failure.ts';
import type { DownloadFile } from '../../http/call.ts';
import { onlyRow } from '../../invariants.ts';
import { licenseKeyFragment } from '../licenses/index.ts';
import { findMachine, foundBy, recordsWhere, notFound } from './machine-row.ts';
import type { MachineCount } from './machines.ts';
import { readStandings, recordOf, refusedNoLonger, seatsAt } from './standings.ts';

type Query = RouteInput<typeof calls.list>['query'];
type Found = Awaited<ReturnType<typeof readStandings>>[number];
type Filter = Omit<Query, 'limit' | 'offset' | 'sort'>;

/** A page of all machines, with their seats. A filter may take long, so it does not use the everyday connections. */
export async function listStandings(
  { db, reports }: Pick<Context, 'db' | 'reports'>,
  count: { seen: MachineCount; states: MachineCount },
  by: Caller,
  { limit, offset = 0, sort, ...filter }: Query,
): Promise<RouteAnswer<typeof calls.list>> {
  const order = inOrder(sort);
  const { seenWithinDays, unseenForDays, state, ...others } = filter;
  const seen = `${seenWithinDays} ${unseenForDays}`;
  const isCountKept = Object.values(others).every((value) => value === undefined);
  const found = allOf(conditionsOf(by, filter));
  if (isCountKept && !state) {
    // in the order of the index, which ends with the page; the count does not
    const page = sql`select * from machines m where ${found} order by ${order} limit ${limit} offset ${offset}`;
    const [rows, total] = await Promise.all([readStandings(db, by, page, order), count.seen(seen, found)]);
    return { data: rows.map(({ standing }) => standing), meta: { total, limit, offset } };
  }
  const answer = async (hashes: string[], total: number) => {
    const rows = await readStandings(reports, by, machinesOf(hashes), order);
    return { data: rows.map(({ standing }) => standing), meta: { total, limit, offset } };
  };
  if (state && mayRead(by, 'licenses')) {
    const end = offset + limit;
    const length = Math.min(walked.forEach * end, walked.atMost);
    const most = isCountKept ? end : length;
    const { hashes, isAll } = await walk(reports, by, { ...filter, state }, sort, { length, most });
    if (isAll) return answer(hashes.slice(offset, end), hashes.length);
    if (isCountKept && hashes.length === end)
      return answer(hashes.slice(offset), await count.states(`${state} ${seen}`, found));
  }
  const { rows: pages } = await sql<{ total: number; hashes: string[] }>`
    with found as materialized (
      select m.machine_hash, m.last_seen, m.validated_at from machines m where ${found})
    select (select count(*) from found) as total,
           array(select encode(m.machine_hash, 'hex') from found m
                  order by ${order} limit ${limit} offset ${offset}) as hashes`.execute(reports);
  const { total, hashes } = onlyRow({ rows: pages });
  return answer(hashes, total);
}

/** Machines that a walk looks at, for each that the page needs and in all; beyond, computing all states is faster. */
const walked = { forEach: 100, atMost: 20_000 };

/**
 * The hashes of at least the first `most` machines in a state, among the first `length` of the list that may be in it:
 * looks at one after the other. `isAll`: there are no more.
 */
async function walk(
  db: Db,
  by: Caller,
  { state, ...others }: Filter & { state: MachineState },
  sort: Query['sort'],
  { length, most }: { length: number; most: number },
): Promise<{ hashes: string[]; isAll: boolean }> {
  const conditions = conditionsOf(by, others);
  const mayBe = machinesThatMayBe[state];
  let atMost = most;
  if (mayBe) {
    const { rows: few } = await sql<{ hash: Buffer }>`${mayBe(by.now)} limit ${length}`.execute(db);
    if (few.length < length) {
      conditions.push(sql`m.machine_hash = any(${few.map(({ hash }) => hash)}::bytea[])`);
      // so few are counted with the page, where otherwise the states of all machines would be
      atMost = length;
    }
  }
  const first = sql`(
    select m.machine_hash, ${heardOf} as heard_at from machines m where ${allOf(conditions)}
     order by ${inOrder(sort)} limit ${length}) m`;
  const listed = inOrder(sort, sql`m.heard_at`);
  const { rows } = await sql<{ hashes: string[]; isAll: boolean }>`
    with found as materialized (
      select m.machine_hash, m.heard_at
        from ${first} left join lateral (select * from ${seatsAt(by.now, sql`m.machine_hash`)} one) s on true
       where coalesce(s.state, 'no_seat') = ${state} order by ${listed} limit ${atMost})
    select array(select encode(m.machine_hash, 'hex') from found m order by ${listed}) as hashes,
           (select count(*) from found) < ${atMost} and (select count(*) from ${first}) < ${length} as "isAll"`.execute(
    db,
  );
  return onlyRow({ rows });
}

const seated = (where: RawBuilder<boolean>): RawBuilder<unknown> => sql`
  select ${recordOf} as hash from activations a left join machine_credentials k using (activation_id) where ${where}`;

/** The states that few machines are in, and at least these machines by an index. */
const machinesThatMayBe: { [state in MachineState]?: (now: Date) => RawBuilder<unknown> } = {
  offline: () => seated(sql`a.status = 'active' and a.offline_until is not null`),
  clone: () => seated(sql`k.cloned_at is not null`),
  no_seat: (now) => sql`
    select machine_hash as hash from seatless_machines
    union all ${seated(sql`a.status = 'released'`)}
    union all ${seated(sql`a.status = 'active' and a.offline_until <= ${now}`)}
    union all ${refusedNoLonger(now)}`,
};

const machinesOf = (hashes: string[]): RawBuilder<unknown> =>
  sql`select * from machines m where m.machine_hash = any(${hashes.map((hash) => Buffer.from(hash, 'hex'))}::bytea[])`;

const inOrder = (sort: Query['sort'], heard: RawBuilder<unknown> = heardOf): RawBuilder<unknown> =>
  sort === 'lastSeen' ? sql`${heard}, m.machine_hash` : sql`${heard} desc, m.machine_hash desc`;

/** All of them as a CSV file, and an audit entry that names the caller. */
export async function exportStandings(
  parts: ChangeParts,
  by: Caller,
  { sort, ...filter }: RouteInput<typeof calls.exportCsv>['query'],
): Promise<DownloadFile> {
  const { db } = parts;
  const { rows: found } = await sql<{ hash: string }>`
    select encode(m.machine_hash, 'hex') as hash from machines m
     where ${allOf(conditionsOf(by, filter))} order by ${inOrder(sort)}`.execute(db);
  const pieces = inPieces(
    found.map(({ hash }) => hash),
    (hashes) => readStandings(db, by, machinesOf(hashes), sql`1`),
    ({ hash }) => hash,
  );
  const what = `exported ${found.length} as CSV`;
  await runChange(parts, by, (change) => change.audit('machine.exported', null, { what, after: { filter } }));
  const licenses = mayRead(by, 'licenses');
  return {
    fileName: `machines-${utcDay(by.now)}.csv`,
    stream: csvStream(pieces, {
      'Host Name': ({ standing }) => standing.hostname,
      Machine: ({ standing }) => standing.displayId,
      ...(mayRead(by, 'customers') && { Customer: ({ standing }: Found) => standing.customer?.name }),
      ...(licenses && { License: ({ standing }: Found) => standing.license?.licenseKey }),
      Version: ({ standing }) => standing.version,
      Platform: ({ standing }) => standing.platform,
      Architecture: ({ standing }) => standing.architecture,
      'Last Seen': ({ standing }) => standing.lastSeen,
      ...(licenses && {
        State: ({ standing }: Found) => standing.state,
        Code: ({ standing }: Found) => standing.code,
        Since: ({ standing }: Found) => standing.since,
      }),
    }),
  };
}

/** Where one machine stands, by any of its ids. */
export async function getStanding(db: Db, by: Caller, id: string): Promise<MachineStanding | Failure> {
  const machine = await findMachine(db, id);
  if (isFailure(machine)) return machine;
  const page = sql`select * from machines where machine_hash = ${machine.machine_hash}`;
  const [row] = await readStandings(db, by, page, sql`1`);
  return row ? row.standing : notFound;
}

const mostWords = 6;

/** The words of a search; further ones are one text, so that all still match. */
function wordsOf(search: string): string[] {
  const words = search.split(/\s+/).filter(Boolean);
  return [...words.slice(0, mostWords), ...[words.slice(mostWords).join(' ')].filter(Boolean)];
}

const allOf = (conditions: RawBuilder<boolean>[]) => sql<boolean>`${sql.join(conditions, sql` and `)}`;

/** The conditions of a filter, the first of which is always true; none of them tells what the caller may not read. */
function conditionsOf(by: Caller, filter: Filter): RawBuilder<boolean>[] {
  const { search, customerId, platform, version, state, seenWithinDays, unseenForDays } = filter;
  const found = [sql<boolean>`true`];
  if (search) found.push(matchesSearch(by, search));
  if (customerId)
    found.push(
      mayRead(by, 'customers')
        ? sql`m.machine_hash in (${onLicenses(sql`l.customer_id = ${customerId}`)})`
        : sql`false`,
    );
  if (platform)
    found.push(shows(by, sql`m.platform`, sql`s.platform`, (shown) => sql`${shown} = ${platform}`));
  if (version)
    found.push(shows(by, sql`m.last_version`, sql`s.app_version`, (shown) => isVersion(shown, version)));
  if (seenWithinDays) found.push(sql`${heardOf} >= ${daysFrom(by.now, -seenWithinDays)}`);
  if (unseenForDays) found.push(sql`${heardOf} < ${daysFrom(by.now, -unseenForDays)}`);
  if (state) found.push(mayRead(by, 'licenses') ? inState(by, state) : sql`false`);
  return found;
}

/**
 * Where few machines may be in the state, these are looked at one after the other. `is true` keeps PostgreSQL from a join,
 * which computes all seats again for each machine where it expects few of them.
 */
function inState(by: Caller, state: MachineState): RawBuilder<boolean> {
  const mayBe = machinesThatMayBe[state];
  return mayBe
    ? sql`(m.machine_hash in (${mayBe(by.now)})
           and coalesce((select state from ${seatsAt(by.now, sql`m.machine_hash`)} one), 'no_seat') = ${state})`
    : sql`(m.machine_hash in (select hash from ${seatsAt(by.now)} s where s.state = ${state})) is true`;
}

type IsWanted = (shown: RawBuilder<unknown>) => RawBuilder<unknown>;

/** Machines that show a wanted value: what they told a feed, else what they said when they validated. */
const shows = (by: Caller, told: RawBuilder<unknown>, said: RawBuilder<unknown>, isWanted: IsWanted) =>
  sql<boolean>`(${isWanted(told)} or (${told} is null and m.machine_hash in (
    select hash from ${seatsAt(by.now)} s where ${isWanted(said)})))`;

/** One version, by an index; without its third number also all that begin so: `4.1` is 4.1.3 too, not 4.10.0. */
function isVersion(shown: RawBuilder<unknown>, version: string) {
  const [start] = /^\d+(\.\d+)?(?=\.?$)/.exec(version) ?? [];
  return start
    ? sql`(${shown} = ${start} or starts_with(${shown}, ${`${start}.`}))`
    : sql`${shown} = ${version}`;
}

/** Machines with an activation or a refusal on the licenses `l` that match. */
const onLicenses = (matching: RawBuilder<unknown>): RawBuilder<unknown> =>
  recordsWhere(sql`license_id in (select l.license_id from licenses l where ${matching})`);

/**
 * Machines that match the search as one text, since a machine id may contain spaces, or each of its words. Not two
 * conditions with `or`, for which PostgreSQL reads all machines.
 */
function matchesSearch(by: Caller, search: string): RawBuilder<boolean> {
  const words = wordsOf(search);
  const asOne = hashesFoundBy(by, search);
  if (words.length === 1) return isIn(asOne);
  const byWords = sql`select m.machine_hash from machines m
    where ${allOf(words.map((word) => isIn(hashesFoundBy(by, word))))}`;
  return isIn(sql`${asOne} union all ${byWords}`);
}

const isIn = (hashes: RawBuilder<unknown>) => sql<boolean>`m.machine_hash in (${hashes})`;

function hashesFoundBy(by: Caller, word: string): RawBuilder<unknown> {
  const ways = [sql`select m.machine_hash from machines m where ${foundBy(word)}`];
  const key = licenseKeyFragment(word);
  if (key && mayRead(by, 'licenses')) ways.push(onLicenses(sql`l.search_text like search_pattern(${key})`));
  if (mayRead(by, 'customers'))
    ways.push(
      onLicenses(sql`l.customer_id in (
        select customer_id from customers where ${contains(sql`name || E'\n' || coalesce(email, '')`, word)})`),
    );
  return sql.join(ways, sql` union all `);
}
