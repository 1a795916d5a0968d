import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { customers } from '../../contract/customers.ts';
import { session } from '../../contract/session.ts';
import { users } from '../../contract/users.ts';
import { addressOf, days, openClient, startTestServer, type Session } from '../../tests/harness.ts';

const server = await startTestServer();
const root = server.api(await server.signInAs('super_admin'));

// a file of more than the sockets of both sides hold, so that the rest is read when the client reads on
const client = await openClient(server.database.url);
await client.query(`
  insert into customers (customer_id, name, country, status, contact_name, created_at, updated_at)
  select gen_random_uuid(), 'Hospital ' || n, 'DE', 'active', repeat('x', 300), now(), now()
    from generate_series(1, 30000) n`);

/** Begins a file, and reads it in seconds once `happens` is over; how it ends. */
async function readSlowly(happens: (person: Session) => Promise<unknown>): Promise<string> {
  const person = await server.signInAs('viewer');
  const [file] = (await once(
    get(server.url + addressOf(customers.exportCsv), { headers: person.headers }),
    'response',
  )) as [IncomingMessage];
  await happens(person);
  return new Promise((resolve) => {
    file.once('end', () => resolve('whole')).once('error', () => resolve('aborted'));
    const reading = setInterval(() => {
      for (let pieces = 0; pieces < 8; pieces++) file.read();
    }, 50);
    file.once('close', () => clearInterval(reading));
  });
}

test('a file ends with the session of whoever reads it slowly, or with a permission', async () => {
  const ends = await Promise.all([
    readSlowly(async () => undefined),
    readSlowly(({ userId: id }) => root.ok(users.deactivate, { params: { id } })),
    readSlowly(({ userId: id }) =>
      root.ok(users.update, { params: { id }, body: { role: 'binary_manager' } }),
    ),
    readSlowly((person) => server.api(person.byCookie).call(session.logout)),
  ]);
  expect(ends).toEqual(['whole', 'aborted', 'aborted', 'aborted']);
});

test('a file ends when the session is over by its time', async () => {
  expect(await readSlowly(async () => server.clock.advance(days(10_000)))).toBe('aborted');
});
