import { randomBytes } from 'node:crypto';
import { chown, link, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { createPrivate, syncFolder } from '../files.ts';
import { appPasswordFile, databaseName, readPassword } from './embedded-cluster.ts';
import type { ClusterLocation } from './embedded-location.ts';
import { locks } from './locks.ts';
import { withClient } from './with-client.ts';

/** The role that serves requests: it owns our database and everything in it, and nothing else. */
export const appRole = 'lanyard_app';

/**
 * Returns the address of our database under the role that serves requests. Creates both if missing, and takes over
 * objects that an older version, or a restore by the superuser, left to the superuser.
 */
export async function ensureAppRole(location: ClusterLocation, port: number): Promise<string> {
  const password = await ensurePassword(location);
  const url = (role: string, secret: string, database: string) =>
    `postgres://${role}:${secret}@127.0.0.1:${port}/${database}`;
  const app = url(appRole, password, databaseName);
  if (await ownsEverything(app)) return app;

  const superuser = await readPassword(location.cluster);
  await withClient(url(databaseName, superuser, 'postgres'), async (client) => {
    await client.query('select pg_advisory_lock($1)', [locks.embeddedRole]);
    await makeRole(client, password);
    await withClient(url(databaseName, superuser, databaseName), handOver);
  });
  return app;
}

async function ensurePassword({ cluster, account }: ClusterLocation): Promise<string> {
  const known = await readPassword(cluster, appPasswordFile).catch(() => undefined);
  if (known) return known;
  const file = join(cluster, appPasswordFile);
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  await createPrivate(draft, randomBytes(24).toString('base64url'));
  try {
    if (account) await chown(draft, account.uid, account.gid);
    // Earlier versions did not sync it: a power failure could leave it empty.
    if (known === '') await rename(draft, file);
    // Of several concurrent starts, one sets the password and the others read it.
    else
      await link(draft, file).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
      });
    await syncFolder(cluster);
  } finally {
    await rm(draft, { force: true });
  }
  return readPassword(cluster, appPasswordFile);
}

/** Objects in our schema with another owner, except those of extensions. */
const strangers = `
  select format('alter %s %s owner to ${appRole}', case c.relkind when 'v' then 'view'
      when 'm' then 'materialized view' when 'S' then 'sequence' else 'table' end, c.oid::regclass) as handing_over
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'S')
      and pg_get_userbyid(c.relowner) <> '${appRole}'
      and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid
        and d.deptype in ('e', 'a', 'i') and (d.deptype = 'e' or c.relkind = 'S'))
  union all
  select format('alter routine %s owner to ${appRole}', p.oid::regprocedure)
    from pg_proc p
    where p.pronamespace = 'public'::regnamespace and pg_get_userbyid(p.proowner) <> '${appRole}'
      and not exists (select from pg_depend d
        where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
  union all
  select format('alter database %I owner to ${appRole}', datname)
    from pg_database where datname = current_database() and pg_get_userbyid(datdba) <> '${appRole}'`;

async function ownsEverything(url: string): Promise<boolean> {
  try {
    return await withClient(url, async (client) => (await client.query(strangers)).rowCount === 0);
  } catch (error) {
    const { code } = error as { code?: string };
    // Role missing or password changed, no right to connect, no such database.
    if (['28P01', '28000', '42501', '3D000'].includes(code ?? '')) return false;
    throw error;
  }
}

async function makeRole(client: pg.Client, password: string): Promise<void> {
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [appRole]);
  const secret = client.escapeLiteral(password);
  await client.query(
    `${rowCount ? 'alter' : 'create'} role ${appRole} login nosuperuser nocreatedb nocreaterole password ${secret}`,
  );
  const database = await client.query('select from pg_database where datname = $1', [databaseName]);
  if (!database.rowCount) await client.query(`create database ${databaseName} owner ${appRole}`);
}

/** Transfers ownership in one transaction. */
async function handOver(client: pg.Client): Promise<void> {
  await client.query('begin');
  const { rows } = await client.query<{ handing_over: string }>(strangers);
  for (const { handing_over } of rows) await client.query(handing_over);
  await client.query('commit');
}
