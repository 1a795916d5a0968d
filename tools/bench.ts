import type { ChildProcess } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbedded } from '../server/db/embedded.ts';
import { migrate } from '../server/db/migrate.ts';
import { newLicenseKey } from '../server/features/licenses/license-key.ts';
import { fillDatabase, sizes } from './bench/dataset.ts';
import { benchBinaries } from './bench/binaries.ts';
import { benchConsole } from './bench/console.ts';
import { benchHashing } from './bench/hashing.ts';
import { fillHistory } from './bench/history-dataset.ts';
import { benchHistory } from './bench/history.ts';
import { benchLicensing, type Row, type Stage } from './bench/licensing.ts';
import { fillUpdates } from './bench/updates-dataset.ts';
import { benchUpdates } from './bench/updates.ts';
import { createChildren, freePort, peakMemoryMb } from './bench/processes.ts';

const parts = ['licensing', 'console', 'binaries', 'updates', 'history'];

/**
 * `npm run bench`: our server and a bare one, each its own process, on one PostgreSQL with 100,000 licenses, a million
 * machines and a year of history; every job in both, in turn. `--seconds 5` sets the length of a round, `--scale 0.1`
 * makes the million machines a hundred thousand, `--only licensing,console` runs these parts of them.
 */
const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    scale: { type: 'string', default: '1' },
    only: { type: 'string', default: parts.join(',') },
  },
});
const [seconds, scale] = [Number(options.seconds), Number(options.scale)];
const admin = { email: 'bench@example.org', password: 'bench password' };

async function main(): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'lanyard-bench-'));
  // as root PostgreSQL runs under another account, which must get in
  await chmod(folder, 0o755);
  const database = await startEmbedded(folder, { exclusive: false, log: () => undefined });
  const children = createChildren();
  try {
    await migrate(database.url);
    process.stdout.write(`Filling: ${JSON.stringify(sizes)}\n`);
    const sample = await fillDatabase(database.url, () => newLicenseKey('enterprise'));
    const ports = { ours: await freePort(), bare: await freePort() };
    const env = { DATABASE_URL: database.url, BARE_FILE: path.join(folder, 'bare.bin') };
    await children.start('tools/bench/bare-server.js', { ...env, PORT: String(ports.bare) });
    const ours = await children.start('server/main.js', {
      ...env,
      PORT: String(ports.ours),
      DATA_DIR: folder,
      ADMIN_EMAIL: admin.email,
      ADMIN_PASSWORD: admin.password,
      LOG_LEVEL: 'info',
    });
    const url = `http://127.0.0.1:${ports.ours}`;
    const stage: Stage = {
      bare: `http://127.0.0.1:${ports.bare}`,
      ours: url,
      admin,
      process: ours,
      folder,
      sample,
      seconds,
      ...(await signIn(url)),
    };
    const rows: Row[] = [];
    const wanted = options.only.split(',');
    if (wanted.includes('licensing')) rows.push(...(await benchLicensing(stage)), peakMemory(ours));
    if (wanted.includes('console')) rows.push(...(await benchConsole(stage)));
    if (wanted.includes('binaries'))
      rows.push(...(await benchBinaries(stage)), ...(await benchHashing(stage)));
    if (wanted.includes('updates')) {
      // after the start, which makes the partitions that the events belong in
      await fillUpdates(database.url, scale);
      rows.push(...(await benchUpdates(stage, scale)));
    }
    if (wanted.includes('history')) {
      await fillHistory(database.url, scale);
      rows.push(...(await benchHistory(stage)));
    }
    print(rows);
  } finally {
    await children.stop();
    await database.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function signIn(url: string): Promise<{ bearer: string; apiKey: string }> {
  const post = async (address: string, body: object, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${url}${address}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return ((await answer.json()) as { data: Record<string, string> }).data;
  };
  const { accessToken } = await post('/api/v1/auth/login', admin);
  const key = {
    name: 'bench',
    expiresAt: '2099-01-01T00:00:00Z',
    rateLimit: 1_000_000_000,
    scopes: ['validate', 'updates'],
    ipWhitelist: ['127.0.0.0/8', '::1'],
  };
  const { key: apiKey } = await post('/api/v1/api-keys', key, { authorization: `Bearer ${accessToken}` });
  return { bearer: accessToken!, apiKey: apiKey! };
}

function peakMemory(child: ChildProcess): Row {
  const peak = peakMemoryMb(child);
  const job = 'memory of the Node process at its peak under all this';
  return { job, target: '≤ 220 MB', met: peak <= 220, note: `${peak.toFixed(0)} MB` };
}

function print(rows: Row[]): void {
  process.stdout.write('\n| job | at least | bare/s | ours/s | ratio | p50 ms | p99 ms | |\n');
  process.stdout.write('| --- | --- | --- | --- | --- | --- | --- | --- |\n');
  for (const { job, target, bare, ours, met, note } of rows) {
    const ratio = bare && ours ? `${((100 * ours.perSecond) / bare.perSecond).toFixed(0)} %` : '';
    const rates = [bare?.perSecond.toFixed(0) ?? '', ours?.perSecond.toFixed(0) ?? '', ratio];
    const cells = [job, target, ...rates, ours?.p50 ?? '', ours?.p99 ?? ''];
    process.stdout.write(
      `| ${cells.join(' | ')} | ${[met ? 'met' : 'MISSED', note].filter(Boolean).join(': ')} |\n`,
    );
  }
}

await main();
