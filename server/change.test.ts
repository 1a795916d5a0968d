import { expect, test } from 'vitest';
import { audit } from '../contract/audit.ts';
import { customers } from '../contract/customers.ts';
import { makeCustomer } from '../tests/factories.ts';
import { auditOf, startTestServer } from '../tests/harness.ts';
import { changedFields, systemChange, type Change } from './change.ts';
import type { Topic } from './db/signals.ts';
import { fail } from './failure.ts';

const server = await startTestServer();
const api = server.api(await server.signInAs('super_admin'));

const run = <T>(work: (change: Change) => Promise<T>) =>
  systemChange(server.context, server.clock.now(), work);

/** Renames a customer, tells of it, and leaves work for later; answers what became of it. */
async function rename(end: () => Promise<unknown>) {
  const { customerId } = await makeCustomer(api, { name: 'Before' });
  const steps: string[] = [];
  const drop = server.context.signals.drop.bind(server.context.signals);
  const parts = {
    ...server.context,
    signals: {
      tell: () => undefined,
      drop: (topic: Topic, id?: string) => (
        steps.push(`drop ${topic} ${id ?? ''}`.trimEnd()),
        drop(topic, id)
      ),
    },
  };
  const outcome = await systemChange(parts, server.clock.now(), async (change) => {
    await change.tx
      .updateTable('customers')
      .set({ name: 'After' })
      .where('customer_id', '=', customerId)
      .execute();
    await change.announce('licenses');
    change.afterCommit(
      async () => void steps.push((await nameOf(customerId)) === 'After' ? 'first' : 'too early'),
    );
    change.afterCommit(async () => void steps.push('second'));
    await change.audit('customer.restored', { customerId, name: 'After' });
    return end();
  }).catch((error: unknown) => error);
  const entries = (await auditOf(server, customerId)).map((entry) => entry.changes_summary);
  const named = steps.map((step) => step.replace(customerId, 'the customer'));
  return { outcome, steps: named, name: await nameOf(customerId), entries };
}

const nameOf = async (id: string) => (await api.ok(customers.get, { params: { id } })).name;

test('a change commits, then drops caches and what is kept of the record, then does in order what was left for afterwards', async () => {
  expect(await rename(async () => 'done')).toEqual({
    outcome: 'done',
    steps: ['drop licenses', 'drop records the customer', 'first', 'second'],
    name: 'After',
    entries: ['Before: created', 'After: restored'],
  });
});

test.each([
  ['returns a Failure', fail('WRONG_STATE', 'No.'), async () => fail('WRONG_STATE', 'No.')],
  ['throws', new Error('No.'), () => Promise.reject(new Error('No.'))],
])(
  'a change that %s leaves nothing behind, tells nobody and does nothing afterwards',
  async (_, outcome, end) => {
    expect(await rename(end)).toEqual({ outcome, steps: [], name: 'Before', entries: ['Before: created'] });
  },
);

test('an error after the commit reaches the caller, and the change stands', async () => {
  const { customerId } = await makeCustomer(api, { name: 'Before' });
  const changing = run(async (change) => {
    await change.tx
      .updateTable('customers')
      .set({ name: 'After' })
      .where('customer_id', '=', customerId)
      .execute();
    change.afterCommit(() => Promise.reject(new Error('The file stays')));
  });
  await expect(changing).rejects.toThrow('The file stays');
  expect(await nameOf(customerId)).toBe('After');
});

test('an entry never shows a secret, whatever is handed to it', async () => {
  const id = '019b0000-0000-7000-8000-000000000001';
  await run((change) =>
    change.audit('api_key.created', { id, name: 'CI' }, { after: { name: 'CI', key: 'lyd_secret' } }),
  );
  const [entry] = await auditOf(server, id);
  expect(entry).toMatchObject({ changes_summary: 'API key CI: created', after: { name: 'CI' } });
  expect(JSON.stringify(entry)).not.toContain('lyd_secret');
});

test('an edit that changes nothing writes neither the row nor an entry', async () => {
  const { customerId, updatedAt } = await makeCustomer(api, { name: 'Same' });
  server.clock.advance(1000);
  const body = { name: 'Same', country: 'DE' };
  expect((await api.ok(customers.update, { params: { id: customerId }, body })).updatedAt).toBe(updatedAt);
  expect(await auditOf(server, customerId)).toHaveLength(1);
});

test('a summary names its subject, so that a search for it finds all that happened to it', async () => {
  const { customerId } = await makeCustomer(api, { name: 'Klinik Nadelstich' });
  await api.ok(customers.update, {
    params: { id: customerId },
    body: { name: 'Klinik Nadelstich', country: 'FR' },
  });
  await api.ok(customers.softDelete, { params: { id: customerId } });
  const { entries } = await api.ok(audit.list, { query: { search: 'nadelstich' } });
  expect(entries.map((entry) => entry.changes_summary)).toEqual([
    'Klinik Nadelstich: moved to the recycle bin',
    'Klinik Nadelstich: country: DE → FR',
    'Klinik Nadelstich: created',
  ]);
});

test('fields that changed are told with what they were', () => {
  expect(
    changedFields({ name: 'A', phone: null, updatedAt: 1 }, { name: 'B', phone: '12', updatedAt: 2 }),
  ).toBe('name: A → B; phone: – → 12');
});
