import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { customers } from '../../contract/customers.ts';
import { session } from '../../contract/session.ts';
import { rbac, users } from '../../contract/users.ts';
import { isReset } from '../../tests/break-off.ts';
import {
  addressOf,
  days,
  eventually,
  openClient,
  startTestServer,
  type Session,
} from '../../tests/harness.ts';

const server = await startTestServer();
const root = server.api(await server.signInAs('super_admin'));

// a file of more than the sockets of both sides hold, so that the rest is read when the client reads on
const client = await openClient(server.database.url);
await client.query(`
  insert into customers (customer_id, name, country, status, contact_name, created_at, updated_at)
  select gen_random_uuid(), 'Hospital ' || n, 'DE', 'active', repeat('x', 300), now(), now()
    from generate_series(1, 30000) n`);

/** Reads on in seconds; how it ends. */
function endOf(file: Readable): Promise<string> {
  return new Promise((resolve) => {
    file.once('end', () => resolve('whole')).once('error', () => resolve('aborted'));
    const reading = setInterval(() => {
      for (let pieces = 0; pieces < 8; pieces++) file.read();
    }, 50);
    file.once('close', () => clearInterval(reading));
  });
}

/** Begins a file, and reads it slowly once `happens` is over. */
async function readSlowly(happens: (person: Session) => Promise<unknown>): Promise<string> {
  const person = await server.signInAs('viewer');
  const [file] = (await once(
    get(server.url + addressOf(customers.exportCsv), { headers: person.headers }),
    'response',
  )) as [IncomingMessage];
  await happens(person);
  return endOf(file);
}

const signOut = (person: Session) => server.api(person.byCookie).call(session.logout);

test('a file ends with the session of whoever reads it slowly, or with a permission', async () => {
  const ends = await Promise.all([
    readSlowly(async () => undefined),
    readSlowly(({ userId: id }) => root.ok(users.deactivate, { params: { id } })),
    readSlowly(({ userId: id }) =>
      root.ok(users.update, { params: { id }, body: { role: 'binary_manager' } }),
    ),
    readSlowly(signOut),
  ]);
  expect(ends).toEqual(['whole', 'aborted', 'aborted', 'aborted']);
});

test('a file ends with the session also while the database is slow to answer', async () => {
  const person = await server.signInAs('viewer');
  const [file] = (await once(
    get(server.url + addressOf(customers.exportCsv), { headers: person.headers }),
    'response',
  )) as [IncomingMessage];
  await client.query('begin; lock table customers in access exclusive mode');
  const end = endOf(file);
  await eventually(async () => {
    const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    return (await server.pool.query(waiting)).rowCount !== 0;
  });
  await signOut(person);
  expect(await end).toBe('aborted');
  await client.query('rollback');
});

test('a file ends when a role of its reader begins to require a second factor', async () => {
  const { description, permissions } = (await root.ok(rbac.roles)).find(({ roleId }) => roleId === 'viewer')!;
  const require = (requiresSecondFactor: boolean) =>
    root.ok(rbac.updateRole, {
      params: { roleId: 'viewer' },
      body: { description, permissions, requiresSecondFactor },
    });
  expect(await readSlowly(() => require(true))).toBe('aborted');
  await require(false);
});

test('a file ends when the session is over by its time', async () => {
  expect(await readSlowly(async () => server.clock.advance(days(10_000)))).toBe('aborted');
});

/** What runs when the process exits, as after a stop that took too long. */
const exit = async () =>
  process
    .listeners('exit')
    .find(({ name }) => name === 'breakAllOff')!
    .call(process, 0);

test.each([
  ['with its session', signOut],
  ['with the process', exit],
])('a file that ends too early, %s, is not whole for a client of HTTP/1.0 either', async (_, end) => {
  const person = await server.signInAs('viewer');
  const { hostname, port } = new URL(server.url);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  const headers = Object.entries(person.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET ${addressOf(customers.exportCsv)} HTTP/1.0\r\n${headers.join('')}\r\n`);
  await once(socket, 'readable');
  await end(person);
  await endOf(socket);
  expect(await isReset(socket)).toBe(true);
  socket.destroy();
});
