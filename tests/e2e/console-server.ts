import { hash } from '@node-rs/argon2';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import type { RoleName } from '../../contract/permissions.ts';
import { systemChange } from '../../server/change.ts';
import { createDb, createPool, type WritableDb, type Tx } from '../../server/db/client.ts';
import { apiAt, password, signedInAt, type Api } from '../api-client.ts';
import { freePort, newDataDir, removeDataDir, startServer as startBuilt } from '../server-process.ts';
import { createTestDatabase } from '../test-database.ts';

const filesElsewhere = new URL('files-elsewhere.mjs', import.meta.url).href;

/** The built server in a separate process, with an empty data directory and a new database. */
export type ConsoleServer = {
  url: string;
  dataDir: string;
  /** For the operator's tools. */
  settings: { DATA_DIR: string; DATABASE_URL: string };
  /** The first administrator, whose password is in the file that is written when there is no terminal. */
  printed: { email: string; password: string };
  db: WritableDb;
  /** Calls as the first super admin. */
  admin: Api;
  api(headers?: Record<string, string>): Api;
  /** Calls as the user with this address, signed in. */
  apiAs(email: string): Promise<Api>;
  /** A user of that role, created on first use. */
  person(role: RoleName): Promise<Person>;
  /** Changes sessions in the database and notifies the server. */
  changeSessions(work: (tx: Tx) => Promise<unknown>): Promise<void>;
  stop(): Promise<void>;
};

export type Person = { userId: string; email: string; name: string };

/** Starts the built server as `npm start` does, and waits until it is ready. */
export async function startServer(): Promise<ConsoleServer> {
  const dataDir = await newDataDir();
  const database = await createTestDatabase({ cluster: process.env.TEST_DATABASE_URL });
  const settings = { DATA_DIR: dataDir, DATABASE_URL: database.url };
  const PORT = String(await freePort());
  const url = `http://127.0.0.1:${PORT}`;
  const server = await startBuilt({
    PORT,
    HOST: '127.0.0.1',
    PUBLIC_URL: url,
    ...settings,
    ADMIN_EMAIL: '',
    ADMIN_PASSWORD: '',
    LOG_LEVEL: 'warn',
    // in the test of a release, a thousand machines report with one key
    NEW_MACHINES_PER_KEY_HOUR: '100000',
    NODE_OPTIONS: `--import ${filesElsewhere}`,
  });

  const pool = createPool(database.url, 2);
  pool.on('error', () => {});
  const db = createDb(pool);
  const printed = printedIn(await readFile(join(dataDir, 'first-password'), 'utf8'));
  const people = new Map<RoleName, Promise<Person>>();
  return {
    url,
    dataDir,
    settings,
    printed,
    db,
    admin: apiAt(url, await signedInAt(url, printed)),
    api: (headers = {}) => apiAt(url, { headers }),
    apiAs: async (email) => apiAt(url, await signedInAt(url, { email, password })),
    person(role) {
      const person = people.get(role) ?? makePerson(db, role);
      people.set(role, person);
      return person;
    },
    changeSessions: (work) =>
      systemChange({ db, writeEntry: async () => '' }, new Date(), async ({ tx, announce }) => {
        await work(tx);
        await announce('sessions');
      }),
    async stop() {
      await pool.end();
      const code = await server.end('SIGTERM');
      await database.drop();
      await removeDataDir(dataDir);
      if (code !== 0) throw new Error(`The server did not stop cleanly (${code}):\n${server.output()}`);
    },
  };
}

const firstSignIn = /email\s+(\S+)\s+password\s+(\S+)\s/;

function printedIn(text: string): ConsoleServer['printed'] {
  const [, email, plain] = firstSignIn.exec(text)!;
  return { email: email!, password: plain! };
}

async function makePerson(db: WritableDb, role: RoleName): Promise<Person> {
  const person = { email: `${role}@lanyard.test`, name: `Robin ${role}` };
  const user_id = uuidv7();
  const now = new Date();
  const password_hash = await hash(password);
  await db.transaction().execute(async (tx) => {
    await tx
      .insertInto('users')
      .values({ user_id, ...person, password_hash, created_at: now, updated_at: now })
      .execute();
    await tx.insertInto('user_roles').values({ user_id, role_id: role }).execute();
  });
  return { userId: user_id, ...person };
}
