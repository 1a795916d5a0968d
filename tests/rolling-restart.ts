import { rm } from 'node:fs/promises';
import { customers } from '../contract/customers.ts';
import { session } from '../contract/session.ts';
import { validation } from '../contract/validation.ts';
import { makeApiKey, makeLicense, unique } from './factories.ts';
import { apiAt } from './harness.ts';
import { startLoad, type Seen } from './load.ts';
import { startNginx } from './nginx.ts';
import {
  administrator,
  copyKeys,
  freePort,
  newDataDir,
  startServer,
  type ServerProcess,
} from './server-process.ts';

export type Rolled = {
  seen: Seen[];
  /** Customers that were made by calls that were answered, and that are not there just once. */
  lost: string[];
  /** What nginx and the servers said beside. */
  said: string;
};

/**
 * Restarts each of two servers in turn, `rounds` times, behind nginx as the docs set it up, under a load of reads and
 * changes. The database is empty.
 */
export async function restartRolling(
  databaseUrl: string,
  rounds: number,
  settings: Record<string, string> = {},
): Promise<Rolled> {
  const ports = [await freePort(), await freePort()] as const;
  const dataDirs = [await newDataDir(), await newDataDir()];
  const start = (index: number) =>
    startServer({
      DATABASE_URL: databaseUrl,
      DATA_DIR: dataDirs[index]!,
      LOG_LEVEL: 'warn',
      TRUST_PROXY: 'loopback',
      PORT: String(ports[index]),
      ...settings,
    });
  const servers: ServerProcess[] = [await start(0)];
  await copyKeys(dataDirs[0]!, dataDirs[1]!);
  servers.push(await start(1));
  const nginx = await startNginx(ports);
  const said: string[] = [];
  try {
    const { accessToken } = await apiAt(nginx.url).ok(session.login, { body: administrator });
    const staff = apiAt(nginx.url, { headers: { authorization: `Bearer ${accessToken}` } });
    const { licenseKey } = await makeLicense(staff);
    const desktop = apiAt(nginx.url, await makeApiKey(staff, { scopes: ['validate'] }));
    const made: string[] = [];
    const load = startLoad({
      'GET customers': () => staff.call(customers.list, { query: { limit: '5' } }),
      'POST validate': () =>
        desktop.call(validation.validate, { body: { licenseKey, machineId: 'rolling' } }),
      'GET keys': () => desktop.call(validation.keys),
      'POST customers': async () => {
        const name = unique('Rolling');
        const answer = await staff.call(customers.create, { body: { name, country: 'DE' } });
        if (answer.status === 201) made.push(name);
        return answer;
      },
    });
    for (let round = 0; round < rounds; round++)
      for (const index of [0, 1]) {
        load.phase(`SIGTERM to ${index}`);
        const code = await servers[index]!.end('SIGTERM');
        said.push(servers[index]!.output());
        if (code !== 0) throw new Error(`A server ended with ${code}:\n${servers[index]!.output()}`);
        load.phase(`the end of ${index}`);
        servers[index] = await start(index);
        load.phase(`${index} was ready`);
      }
    await load.stop();
    const there = new Map<string, number>();
    const file = (await staff.call(customers.exportCsv)).text;
    for (const [name] of file.matchAll(/Rolling[^",;]*/g)) there.set(name, (there.get(name) ?? 0) + 1);
    const lost = made.filter((name) => there.get(name) !== 1);
    said.push(await nginx.errors(), ...servers.map((server) => server.output()));
    return { seen: load.seen, lost, said: said.join('\n') };
  } finally {
    await nginx.stop();
    await Promise.all(servers.map((server) => server.end('SIGTERM')));
    for (const dataDir of dataDirs) await rm(dataDir, { recursive: true, force: true });
  }
}
