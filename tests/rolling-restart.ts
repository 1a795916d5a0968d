import { copyFile, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { session } from '../contract/session.ts';
import { makeApiKey, makeLicense } from './factories.ts';
import { apiAt } from './harness.ts';
import { startNginx } from './nginx.ts';
import { administrator, freePort, newDataDir, startServer, type ServerProcess } from './server-process.ts';

export type Rolled = {
  answered: { GET: number; POST: number };
  /** What was no answer of ours, with how often: "POST /… 502". */
  lost: Record<string, number>;
  /** What nginx said beside. */
  errors: string;
};

/**
 * Restarts each of two servers in turn, `rounds` times, behind nginx as the docs set it up, under a load of reads and
 * changes on connections that are kept. The database is empty.
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
  for (const name of ['signing-key.pem', 'secrets-key'])
    await copyFile(join(dataDirs[0]!, name), join(dataDirs[1]!, name));
  servers.push(await start(1));
  const nginx = await startNginx(ports);
  try {
    const { accessToken } = await apiAt(nginx.url).ok(session.login, { body: administrator });
    const staff = { authorization: `Bearer ${accessToken}` };
    const admin = apiAt(nginx.url, { headers: staff });
    const { licenseKey } = await makeLicense(admin);
    const { headers: key } = await makeApiKey(admin, { scopes: ['validate'] });
    const load = startLoad(nginx.url, [
      { method: 'GET', path: '/api/customers?limit=5', headers: staff },
      {
        method: 'POST',
        path: '/api/licenses/validate',
        headers: key,
        body: { licenseKey, machineId: 'rolling' },
      },
      { method: 'GET', path: '/api/v1/keys', headers: {} },
      { method: 'POST', path: '/api/customers', headers: staff, body: { name: 'Rolling', country: 'DE' } },
    ]);
    for (let round = 0; round < rounds; round++)
      for (const index of [0, 1]) {
        const code = await servers[index]!.end('SIGTERM');
        if (code !== 0) throw new Error(`A server ended with ${code}:\n${servers[index]!.output()}`);
        servers[index] = await start(index);
      }
    return { ...(await load.stop()), errors: await nginx.errors() };
  } finally {
    await nginx.stop();
    await Promise.all(servers.map((server) => server.end('SIGTERM')));
    for (const dataDir of dataDirs) await rm(dataDir, { recursive: true, force: true });
  }
}

type Call = { method: 'GET' | 'POST'; path: string; headers: Record<string, string>; body?: object };

/** Makes the calls in turn from each of some connections, until it is stopped. */
function startLoad(url: string, calls: Call[], lanes = 12) {
  const agent = new Agent({ keepAlive: true });
  const answered = { GET: 0, POST: 0 };
  const lost: Rolled['lost'] = {};
  let going = true;
  const lane = async (first: number) => {
    for (let i = first; going; i++) {
      const call = calls[i % calls.length]!;
      const status = await send(agent, url, call);
      if (typeof status === 'number' && status < 300) answered[call.method]++;
      else {
        const what = `${call.method} ${call.path} ${status}`;
        lost[what] = (lost[what] ?? 0) + 1;
      }
      // the servers share the machine with whatever else is tested
      await sleep(5);
    }
  };
  const running = Array.from({ length: lanes }, (_, first) => lane(first));
  return {
    async stop() {
      going = false;
      await Promise.all(running);
      agent.destroy();
      return { answered, lost };
    },
  };
}

/** The status, or a sentence where there was none. */
function send(agent: Agent, url: string, { method, path, headers, body }: Call): Promise<number | string> {
  const text = body && JSON.stringify(body);
  return new Promise((resolve) => {
    const sent = request(url + path, {
      agent,
      method,
      headers: {
        ...headers,
        ...(text ? { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) } : {}),
      },
    });
    sent.on('response', (response) => {
      response.resume().on('end', () => resolve(response.statusCode!));
      response.on('error', (error) => resolve(error.message));
    });
    sent.on('error', (error) => resolve(error.message));
    sent.end(text);
  });
}
