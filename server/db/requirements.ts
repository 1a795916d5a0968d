import { randomInt } from 'node:crypto';
import type pg from 'pg';
import { CannotStart } from '../cannot-start.ts';
import { withoutForeignLimits } from './limits.ts';
import { atAddress, settingOf, type Addresses } from './setting-of.ts';
import { withClient } from './with-client.ts';
import { onlyRow } from '../invariants.ts';

/** Properties reported by a server, and results of tests. */
export type ServerProperties = {
  /** The result of `version()`; other products that speak the protocol name themselves there. */
  version: string;
  versionNumber: number;
  isReadOnly: boolean;
  isReplica: boolean;
  encoding: string;
  /** Whether the role may create extensions and tables. */
  createsInDatabase: boolean;
  createsInSchema: boolean;
  trigrams: 'usable' | 'creatable' | 'hidden' | 'untrusted' | 'missing';
  /** Our tables that Citus distributes over its nodes. */
  distributed: string[];
};

/** The behavior of two connections to one address. */
export type Behavior = {
  /** Two clients shared a server connection, or one client changed it: there is a pooler in transaction mode. */
  isPooledByTransaction: boolean;
  /** Undefined if not tested because of another reported problem. */
  locksAcrossSessions?: boolean;
  notifies?: boolean;
};

const oldest = 14;
const patienceMs = 10_000;
const patience = {
  connectionTimeoutMillis: patienceMs,
  query_timeout: patienceMs,
  application_name: 'lanyard start',
};
/** Two-key advisory locks have a separate number space, so this does not collide with `locks`. */
const probeLock = 724_116;

/**
 * Refuses to start on an unsuitable database, with one sentence for each reason. `queries` may point to a pooler;
 * `direct` points to the server, and is the same address if there is no pooler.
 */
export async function requireDatabase(addresses: Addresses): Promise<void> {
  const problems = await problemsOf(addresses).catch((error: Error) => {
    if (error.message === 'Query read timeout') return [tooSlow(error)];
    throw error;
  });
  if (problems.length > 0) {
    const list = problems.map((problem) => `  - ${problem}`).join('\n');
    const isDivided = addresses.queries !== addresses.direct;
    const which = isDivided ? 'the database of DATABASE_DIRECT_URL' : 'this database';
    throw new CannotStart(`Lanyard cannot start on ${which}:\n${list}`);
  }
}

async function problemsOf(addresses: Addresses): Promise<string[]> {
  const isDivided = addresses.queries !== addresses.direct;
  const at = <T>(which: keyof Addresses, work: (client: pg.Client) => Promise<T>) =>
    atAddress(addresses, which, (url) => withClient({ connectionString: url, ...patience }, work));
  return at('direct', (first) =>
    at('direct', async (second) => {
      const { version } = onlyRow(await first.query<{ version: string }>('select version()'));
      const product = otherProduct(version);
      if (product) return [product];
      const behavior: Behavior = { isPooledByTransaction: await sharesServerConnections(first, second) };
      if (behavior.isPooledByTransaction) return behaviorProblems(behavior, isDivided);
      for (const client of [first, second]) await client.query(withoutForeignLimits);
      const server = await readProperties(first);
      if (!server.isReplica) {
        behavior.locksAcrossSessions = await works(excludes(first, second));
        behavior.notifies = await works(hears(first, second));
      }
      const problems = [...serverProblems(server), ...behaviorProblems(behavior, isDivided)];
      if (!isDivided || problems.length > 0) return problems;
      const isSame = await at('queries', (pooled) => hears(first, pooled));
      return isSame ? [] : [anotherDatabase];
    }),
  );
}

const tooSlow = (error: Error) =>
  `The database of ${settingOf(error)} accepts connections, and did not answer within ${patienceMs / 1000} seconds. Behind a pooler, each ` +
  'process needs 25 connections: raise default_pool_size.';

const anotherDatabase =
  'DATABASE_URL and DATABASE_DIRECT_URL lead to different databases: what the one announces by NOTIFY is not heard ' +
  'at the other. Give both the same database on the same primary server.';

/** A sentence if the server is not PostgreSQL but speaks its protocol. */
export function otherProduct(version: string): string | undefined {
  const [, name] = /(CockroachDB|-YB-|Redshift|Materialize|CrateDB|QuestDB)/i.exec(version) ?? [];
  if (!name) return undefined;
  const product = name === '-YB-' ? 'YugabyteDB' : name;
  return (
    `The server is ${product}, not PostgreSQL: it lacks LISTEN and NOTIFY, advisory locks or triggers as PostgreSQL ` +
    'has them, and the audit log and revocations rest on these. Use PostgreSQL 14 or newer.'
  );
}

/** One sentence for each missing feature of the server or right of the role, with the fix. */
export function serverProblems(server: ServerProperties): string[] {
  const problems: (string | false)[] = [
    server.versionNumber < oldest * 10_000 &&
      `The server is PostgreSQL ${Math.floor(server.versionNumber / 10_000)}. Use ${oldest} or newer.`,
    server.isReplica
      ? 'The server is a replica that follows another one, so it can only be read. Name the primary server, or an ' +
        'address that always leads to it.'
      : server.isReadOnly &&
        'The server only lets this role read (default_transaction_read_only is on, as managed services set it when the ' +
          'disk is full).',
    server.encoding !== 'UTF8' &&
      `The encoding of the database is ${server.encoding}. Make one with: create database … encoding 'UTF8' template template0.`,
    !server.createsInSchema &&
      'The role may not create tables in its schema. Let it own the database: alter database … owner to ….' +
        (server.versionNumber < 150_000 ? ' And the schema: grant all on schema public to ….' : ''),
    !(server.trigrams === 'creatable' && server.createsInDatabase) && trigramProblems[server.trigrams],
    server.distributed.length > 0 &&
      `Citus distributes these tables: ${server.distributed.join(', ')}. Triggers, row locks and unique keys over all rows ` +
        'do not hold there. Use a database in which no table is distributed.',
  ];
  return problems.filter((problem) => problem !== false);
}

const byAdministrator = 'Let an administrator run in this database: create extension pg_trgm.';
const trigramProblems: Record<ServerProperties['trigrams'], string | false> = {
  usable: false,
  creatable: `The role may not create the extension pg_trgm: it does not own the database. ${byAdministrator}`,
  untrusted: `Only a superuser may create the extension pg_trgm on this server. ${byAdministrator}`,
  missing:
    'The server does not have the extension pg_trgm. Install it (in Debian it is part of the package postgresql), or ' +
    'allow it in the settings of the managed service.',
  hidden:
    'The extension pg_trgm lies in a schema that the role does not search. Run: alter role … set search_path = public, ' +
    'and the schema of the extension.',
};

/** One sentence for each problem that would prevent processes from notifying each other. */
export function behaviorProblems(behavior: Behavior, isDivided: boolean): string[] {
  if (behavior.isPooledByTransaction)
    return [
      isDivided
        ? 'DATABASE_DIRECT_URL leads to a pooler in transaction mode. Give it the address of the PostgreSQL server itself.'
        : 'DATABASE_URL leads to a pooler in transaction mode, through which LISTEN, locks of a session and migrations do ' +
          'not work. Set DATABASE_DIRECT_URL to the address of the PostgreSQL server itself, or use session pooling.',
    ];
  const problems: (string | false)[] = [
    behavior.locksAcrossSessions === false &&
      'Advisory locks do not exclude on this server. Use PostgreSQL, or an address without a pooler that does not know them.',
    behavior.notifies === false &&
      'What is announced by NOTIFY does not arrive by LISTEN on this server: other processes would not hear of a revoked ' +
        'key. Use PostgreSQL, or an address without a pooler that does not pass it on.',
  ];
  return problems.filter((problem) => problem !== false);
}

const propertiesQuery = `
  select version(), current_setting('server_version_num')::int as "versionNumber",
    pg_is_in_recovery() as "isReplica", current_setting('transaction_read_only') = 'on' as "isReadOnly",
    current_setting('server_encoding') as encoding,
    has_database_privilege(current_database(), 'create') as "createsInDatabase",
    coalesce(has_schema_privilege(current_schema(), 'create'), false) as "createsInSchema",
    case
      when exists (select from pg_opclass where opcname = 'gin_trgm_ops' and pg_opclass_is_visible(oid)) then 'usable'
      when exists (select from pg_extension where extname = 'pg_trgm') then 'hidden'
      when not exists (select from pg_available_extensions where name = 'pg_trgm') then 'missing'
      when (select rolsuper from pg_roles where rolname = current_user) or exists (
        select from pg_available_extension_versions where name = 'pg_trgm' and trusted) then 'creatable'
      else 'untrusted'
    end as trigrams,
    to_regclass('pg_dist_partition') is not null as "hasCitus"`;

const distributedQuery = `
  select p.logicalrelid::text as name
    from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
   where c.relnamespace = current_schema()::regnamespace order by 1`;

async function readProperties(client: pg.Client): Promise<ServerProperties> {
  const { hasCitus, ...properties } = onlyRow(
    await client.query<ServerProperties & { hasCitus: boolean }>(propertiesQuery),
  );
  const distributed = hasCitus ? (await client.query<{ name: string }>(distributedQuery)).rows : [];
  return { ...properties, distributed: distributed.map(({ name }) => name) };
}

/**
 * True if a pooler assigns server connections per transaction: two connected clients got the same one, or one client
 * got a different one than before. A server connection is identified by its pid and start time. Poolers pick the most
 * recently used connection or rotate: to detect rotation, the clients do not strictly alternate, and one of them holds
 * a transaction open meanwhile.
 */
async function sharesServerConnections(first: pg.Client, second: pg.Client): Promise<boolean> {
  const own = [await backendOf(first), await backendOf(second)];
  if (own[0] === own[1]) return true;
  for (const held of [false, true, false, true]) {
    if (held) await second.query('begin');
    for (const [index, client] of [first, first, second].entries())
      if ((await backendOf(client)) !== own[index === 2 ? 1 : 0]) return true;
    if (held) await second.query('rollback');
  }
  return false;
}

async function backendOf(client: pg.Client): Promise<string> {
  const found = await client.query<{ backend: string }>(
    `select concat_ws(' ', pid, extract(epoch from backend_start)) as backend
       from pg_stat_get_activity(pg_backend_pid())`,
  );
  return onlyRow(found).backend;
}

/** False if the server does not support the statement or function. */
async function works(attempt: Promise<boolean>): Promise<boolean> {
  return attempt.catch((error: { code?: string }) => {
    const unknown = ['0A000', '42601', '42883'];
    if (unknown.includes(error.code ?? '')) return false;
    throw error;
  });
}

/** True if a lock that one client holds is refused to the other. */
async function excludes(holder: pg.Client, other: pg.Client): Promise<boolean> {
  const key = [probeLock, randomInt(2 ** 31)];
  await holder.query('select pg_advisory_lock($1::int, $2::int)', key);
  const attempt = await other.query<{ taken: boolean }>(
    'select pg_try_advisory_xact_lock($1::int, $2::int) as taken',
    key,
  );
  await holder.query('select pg_advisory_unlock($1::int, $2::int)', key);
  return !onlyRow(attempt).taken;
}

/** True if `listener` receives the notifications of `sender` within 3 s. */
async function hears(listener: pg.Client, sender: pg.Client): Promise<boolean> {
  const channel = `lanyard_probe_${randomInt(2 ** 31)}`;
  let timer: NodeJS.Timeout | undefined;
  const heard = new Promise<boolean>((resolve) => {
    listener.on('notification', (message) => {
      if (message.channel === channel) resolve(true);
    });
    timer = setTimeout(resolve, 3000, false);
  });
  try {
    await listener.query(`listen ${channel}`);
    await sender.query('select pg_notify($1, $2)', [channel, '']);
    return await heard;
  } finally {
    clearTimeout(timer);
  }
}
