import { sql, type RawBuilder } from 'kysely';
import type { Release } from '../../../contract/releases.ts';
import type { MachineGroup, RolloutMachine, rollouts as calls } from '../../../contract/rollouts.ts';
import type { RouteAnswer, RouteInput } from '../../../contract/route.ts';
import { reportedAs } from '../../../contract/versions.ts';
import { mayRead, type Caller } from '../../caller.ts';
import { runChange, type ChangeParts } from '../../change.ts';
import { csvStream } from '../../csv.ts';
import type { Db } from '../../db/client.ts';
import { activationsOfRecord, countOf, heardOf } from '../../db/sql.ts';
import { isFailure, type Failure } from '../../failure.ts';
import type { DownloadFile } from '../../http/call.ts';
import { foundBy } from '../machines/index.ts';
import { getRelease } from '../releases/index.ts';

type Query = RouteInput<typeof calls.machines>['query'];
type Moments = 'lastSeen' | 'installedAt' | 'failedAt';
type Row = Omit<RolloutMachine, Moments> & {
  hash: string;
  lastSeen: Date;
  installedAt: Date | null;
  failedAt: Date | null;
};

/** Rows read at once for a CSV file. */
const atOnce = 1000;

/** The machines of a release in a group, the last seen first. Customers are named to users who may read them. */
export async function rolloutMachines(
  db: Db,
  by: Caller,
  releaseId: string,
  { group, search, limit, offset }: Query,
): Promise<RouteAnswer<typeof calls.machines> | Failure> {
  const release = await getRelease(db, releaseId);
  if (isFailure(release)) return release;
  const found = sql<boolean>`${inGroup(release, group)} and ${search ? foundBy(search) : sql`true`}`;
  const [rows, total] = await Promise.all([
    read(db, by, release, found, { group, limit, offset }),
    countOf(db.selectFrom('machines as m').where(found)),
  ]);
  return { data: rows.map(toMachine), meta: { total, limit, offset } };
}

/** All of them as CSV, read in batches by their key, and an audit entry that names the caller. */
export async function machinesCsv(
  parts: ChangeParts,
  reports: Db,
  by: Caller,
  releaseId: string,
  { group, search }: Pick<Query, 'group' | 'search'>,
): Promise<DownloadFile | Failure> {
  const release = await getRelease(reports, releaseId);
  if (isFailure(release)) return release;
  const found = sql<boolean>`${inGroup(release, group)} and ${search ? foundBy(search) : sql`true`}`;
  async function* batches() {
    for (let after = ''; ;) {
      const beyond = sql<boolean>`${found} and m.machine_hash > decode(${after}, 'hex')`;
      const batch = await read(reports, by, release as Release, beyond, {
        group,
        limit: atOnce,
        inKeyOrder: true,
      });
      yield batch;
      after = batch.at(-1)?.hash ?? '';
      if (batch.length < atOnce) return;
    }
  }
  const what = `exported those of ${release.version} (${group}) as CSV`;
  const filter = { releaseId, group, search };
  await runChange(parts, by, (change) => change.audit('machine.exported', null, { what, after: { filter } }));
  return {
    fileName: `machines-${release.version}-${group}.csv`,
    stream: csvStream(batches(), {
      Machine: (row) => row.displayId,
      ...(mayRead(by, 'customers') && {
        Customers: (row: Row) => row.customers?.map(({ name }) => name).join('; '),
      }),
      Runs: (row) => row.runs,
      ...(group === 'affected' && { 'Moved On': (row: Row) => (row.movedOn ? 'Yes' : 'No') }),
      'Last Seen': (row) => row.lastSeen.toISOString(),
      ...(group === 'failed'
        ? { Failed: (row: Row) => row.failedAt?.toISOString(), Failure: (row: Row) => row.failureCode }
        : { Installed: (row: Row) => row.installedAt?.toISOString() }),
    }),
  };
}

function inGroup({ id, version, platform, architecture }: Release, group: MachineGroup): RawBuilder<boolean> {
  if (group === 'running')
    return sql`m.last_version = any(${reportedAs(version)}::text[]) and m.platform = ${platform} and m.architecture = ${architecture}`;
  if (group === 'failed')
    return sql`m.machine_hash in (select machine_hash from downloads where release_id = ${id} and install_failed)`;
  return sql`m.machine_hash in (select machine_hash from withdrawn_machines join releases using (release_id)
                                where release_id = ${id} and affected_due is null)`;
}

async function read(
  db: Db,
  by: Caller,
  { id, version }: Release,
  found: RawBuilder<unknown>,
  {
    group,
    limit,
    offset = 0,
    inKeyOrder = false,
  }: { group: MachineGroup; limit: number; offset?: number; inKeyOrder?: boolean },
): Promise<Row[]> {
  const order = inKeyOrder ? sql`m.machine_hash` : sql`${heardOf} desc, m.machine_hash desc`;
  const customers = mayRead(by, 'customers')
    ? sql`(select coalesce(jsonb_agg(to_jsonb(c) order by c.name, c."customerId"), '[]') from (
            select distinct customer_id as "customerId", c.name
              from ${activationsOfRecord(sql`m.machine_hash`)} a join licenses l using (license_id)
              join customers c using (customer_id)
             where a.status = 'active') c)`
    : sql`null`;
  const { rows } = await sql<Row>`
    with m as (select * from machines m where ${found} order by ${order} limit ${limit} offset ${offset})
    select encode(m.machine_hash, 'hex') as hash, m.display_id as "displayId", ${customers} as customers,
           m.last_version as runs, ${heardOf} as "lastSeen",
           case when not d.install_failed then d.installed_at end as "installedAt",
           case when d.install_failed then d.installed_at end as "failedAt", d.failure_code as "failureCode",
           ${group === 'affected'} and (m.last_version = any(${reportedAs(version)}::text[])) is not true as "movedOn"
      from m left join downloads d on d.machine_hash = m.machine_hash and d.release_id = ${id}
     order by ${order}`.execute(db);
  return rows;
}

const toMachine = (row: Row): RolloutMachine => ({
  displayId: row.displayId,
  customers: row.customers,
  runs: row.runs,
  failureCode: row.failureCode,
  movedOn: row.movedOn,
  lastSeen: row.lastSeen.toISOString(),
  installedAt: row.installedAt?.toISOString() ?? null,
  failedAt: row.failedAt?.toISOString() ?? null,
});
