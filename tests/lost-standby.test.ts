import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { startEmbedded } from '../server/db/embedded.ts';
import { startSignals } from '../server/db/signals.ts';
import { createTestDatabase, eventually, numbers } from './harness.ts';
import { newFolder } from './place.ts';
import { grantToTests, superuserUrl } from './superuser.ts';
import { ask } from './work.ts';

/* A primary whose synchronous standby is lost: a commit waits for it, and each NOTIFY for one that announces something. */

const folder = await newFolder();
const cluster = await startEmbedded(folder, { exclusive: true, log: () => undefined });
afterAll(() => cluster.stop());
await grantToTests(folder, cluster.url);
const superuser = await superuserUrl(folder, cluster.url);
const database = await createTestDatabase({ cluster: cluster.url, empty: true });

const waitingFor = (event: 'SyncRep' | 'object', application = '') =>
  ask(
    superuser,
    `select from pg_stat_activity where wait_event = '${event}' and application_name like '${application}%'`,
  );

async function useStandby(name: string): Promise<void> {
  await ask(superuser, `alter system set synchronous_standby_names = '${name}'`);
  await ask(superuser, 'select pg_reload_conf()');
}

/** Until a commit waits that announces something, and holds up all others that do. */
async function loseStandby(): Promise<void> {
  onTestFinished(() => useStandby(''));
  await useStandby('lost');
  await eventually(async () => {
    void ask(database.url, `begin; create temporary table written (); notify lanyard, 'licenses'; commit`);
    return (await waitingFor('SyncRep')).length > 0;
  });
}

async function listen(to = { queries: database.url, direct: database.url }) {
  const losses: string[] = [];
  // longer than in service, so that a busy machine alone is not silent
  const signals = await startSignals(to, pino({ level: 'silent' }), () => losses.push('lost'), 4);
  onTestFinished(() => signals.stop());
  return { signals, losses };
}

test('the heartbeat does not wait for it, however much is told, and all is heard when it is back', async () => {
  // a machine that stands still for two seconds is silent too
  await eventually(async () => {
    await useStandby('');
    const { signals, losses } = await listen();
    const seats = numbers(40).map(() => `seat-${randomUUID()}`);
    const heard = new Set<string | undefined>();
    signals.on('records', (id) => seats.includes(id!) && heard.add(id));
    await loseStandby();
    for (const seat of seats) {
      signals.tell('records', [seat]);
      await sleep(100);
    }
    expect([losses, [...heard]]).toEqual([[], []]);
    await useStandby('');
    await eventually(() => expect([...heard].toSorted()).toEqual(seats.toSorted()));
  });
});

test('what asks whether a pooler leads elsewhere ends at the server too', async () => {
  await listen({ queries: `${database.url}?application_name=pooler`, direct: database.url });
  await loseStandby();
  await eventually(async () => (await waitingFor('object', 'pooler')).length > 0);
  await eventually(async () => (await waitingFor('object', 'pooler')).length === 0, 10_000);
});
