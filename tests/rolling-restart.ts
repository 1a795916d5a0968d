import { setTimeout as sleep } from 'node:timers/promises';
import { startLoad, type Seen } from './load.ts';
import { startNginx } from './nginx.ts';
import { copyKeys, freePort, newDataDir, startServer, type ServerProcess } from './server-process.ts';
import { lostCustomers, prepareWork } from './work.ts';

export type Rolled = {
  seen: Seen[];
  /** Customers that were acknowledged but do not exist exactly once, with exactly one audit entry. */
  lost: string[];
  /** Output of nginx and the servers. */
  said: string;
};

/**
 * Restarts each of two servers in turn, `rounds` times, behind nginx as in the docs, under a load of reads and changes.
 * The database is empty. `by`: the signal that stops them; SIGTERM must stop them cleanly.
 */
export async function restartRolling(
  databaseUrl: string,
  rounds: number,
  { by = 'SIGTERM', settings = {} }: { by?: 'SIGTERM' | 'SIGKILL'; settings?: Record<string, string> } = {},
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
  const work = await prepareWork(nginx);
  // it must be 503 for a process that is stopping
  const { readiness: _, ...calls } = work.calls;
  const load = startLoad(calls);
  for (let round = 0; round < rounds; round++)
    for (const index of [0, 1]) {
      load.phase(`${by} to ${index}`);
      const code = await servers[index]!.end(by);
      said.push(servers[index]!.output());
      if (by === 'SIGTERM' && code !== 0)
        throw new Error(`A server ended with ${code}:\n${servers[index]!.output()}`);
      load.phase(`the end of ${index}`);
      servers[index] = await start(index);
      load.phase(`${index} was ready`);
      // a call that was hit by both kills has been to every process
      if (by === 'SIGKILL') await sleep(3000);
    }
  await load.stop();
  said.push(await nginx.errors(), ...servers.map((server) => server.output()));
  return { seen: load.seen, lost: await lostCustomers(databaseUrl, work.made), said: said.join('\n') };
}
