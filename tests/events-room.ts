import { afterAll, expect } from 'vitest';
import { makeApiKey, reportEvents, type Told } from './factories.ts';
import { eventually, startTestServer, startTwin, type Api } from './harness.ts';
import { machineRow } from './rows.ts';

/** Two processes of a service to which machines report, which may cause no deadlock. */
export async function startEventsRoom() {
  const server = await startTestServer();
  const twin = await startTwin(server);
  const staff = server.api((await server.signInAs('super_admin')).byCookie);
  const updatesKey = await makeApiKey(staff, { scopes: ['updates'] });
  afterAll(async () => {
    const { rows } = await server.pool.query<{ deadlocks: number }>(
      'select deadlocks from pg_stat_database where datname = current_database()',
    );
    expect(rows).toEqual([{ deadlocks: 0 }]);
  });

  const row = (machineId: string) => machineRow(server, machineId);
  return {
    server,
    twin,
    staff,
    updatesKey,
    desktop: server.api(updatesKey),
    desktopOfTwin: twin.api(updatesKey),
    report: (api: Api, events: Told[]) =>
      reportEvents(
        api,
        events.map((event) => ({ machineId: 'a machine', ...event })),
      ),
    row,
    /** Waits until all events of a machine are written. */
    written: (machineId: string, events: number) =>
      eventually(async () => {
        const machine = await row(machineId);
        return machine !== undefined && machine.total_events >= events && machine;
      }),
  };
}
