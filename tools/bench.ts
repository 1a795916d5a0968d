import type { ChildProcess } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CannotStart } from '../server/cannot-start.ts';
import { startEmbedded } from '../server/db/embedded.ts';
import { freePort } from '../server/db/embedded-postmaster.ts';
import { grantToTests, superuserUrl } from '../tests/superuser.ts';
import { migrate } from '../server/db/migrate.ts';
import { newLicenseKey } from '../server/features/licenses/license-key.ts';
import { fillDatabase, sizesAt, type Sample } from './bench/dataset.ts';
import { benchBinaries } from './bench/binaries.ts';
import { benchConsole } from './bench/console.ts';
import { benchGrowth, type Growth } from './bench/growth.ts';
import { benchHashing } from './bench/hashing.ts';
import { fillHistory } from './bench/history-dataset.ts';
import { benchHistory } from './bench/history.ts';
import { benchHour } from './bench/hour.ts';
import { benchLicensing, validations } from './bench/licensing.ts';
import { load, type Measured, type Target } from './bench/load.ts';
import { stagesOf } from './bench/profile.ts';
import type { Comparison } from './bench/peers/peer.ts';
import { benchPeers, peers } from './bench/peers/run.ts';
import { revocationRow } from './bench/revocation.ts';
import { fillUpdates } from './bench/updates-dataset.ts';
import { benchUpdates, updateChecks } from './bench/updates.ts';
import { createChildren, peakMemoryMb } from './bench/processes.ts';
import { workersRow } from './bench/workers.ts';
import { dataOf, limitRow, type Row, type Stage } from './bench/stage.ts';
import { runCommand } from './command-line.ts';

/**
 * `npm run bench`: compares Lanyard with a bare server, each in its own process, on one PostgreSQL with 100,000 licenses,
 * a million machines and a year of history. `--seconds 5` sets the duration of a round, `--scale 0.1` reduces machines and
 * history to a tenth (a smaller scale also the licenses), `--only licensing,console` runs only these parts. Only by its
 * name runs `hour`, which takes one with `--seconds 60`.
 *
 * Instead of the parts, `--only growth` compares two sizes of the data, `--peers` what a user would pick instead (with
 * `--only directus` one of them), and `--profile validate` shows where the time of that call goes. `--folder` keeps the
 * data of the first and the packages of the second for the next such run.
 */
const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    scale: { type: 'string', default: '1' },
    only: { type: 'string' },
    profile: { type: 'string' },
    folder: { type: 'string' },
    peers: { type: 'boolean', default: false },
  },
});
const [seconds, scale] = [Number(options.seconds), Number(options.scale)];

type Part = {
  fill?: (databaseUrl: string) => Promise<void>;
  /** Runs only when it is named. */
  isLong?: boolean;
  bench: (stage: Stage, startSecond: (env?: Record<string, string>) => Promise<string>) => Promise<Row[]>;
};

/** Run in this order, each on a new server; filled after its start, which creates the partitions. */
const parts: Record<string, Part> = {
  licensing: {
    bench: async (stage, startSecond) => [
      ...(await benchLicensing(stage)),
      peakMemory(stage.process),
      await revocationRow(stage, await startSecond(), validations(stage).byApiKey),
    ],
  },
  workers: {
    bench: async (stage, startSecond) => [await workersRow(stage, await startSecond({ WORKERS: '2' }))],
  },
  console: { bench: benchConsole },
  binaries: { bench: async (stage) => [...(await benchBinaries(stage)), ...(await benchHashing(stage))] },
  updates: { fill: (url) => fillUpdates(url, scale), bench: (stage) => benchUpdates(stage, scale) },
  history: { fill: (url) => fillHistory(url, scale), bench: benchHistory },
  hour: { bench: benchHour, isLong: true },
};

/** The calls that `--profile` knows. */
const profiled: Record<string, { fill?: Part['fill']; target: (stage: Stage) => Target }> = {
  validate: { target: (stage) => validations(stage).byApiKey },
  'validate-by-token': { target: (stage) => validations(stage).byMachineToken },
  check: { fill: parts.updates!.fill!, target: (stage) => updateChecks(stage, scale).byMachineId },
  'check-by-token': {
    fill: parts.updates!.fill!,
    target: (stage) => updateChecks(stage, scale).byMachineToken,
  },
};
const isGrowth = options.only === 'growth';
const admin = { email: 'bench@example.org', password: 'bench password' };

function requireKnown(option: 'only' | 'profile', known: string[]): void {
  const wrong = options[option]?.split(',').find((name) => !known.includes(name));
  if (wrong !== undefined)
    throw new CannotStart(`--${option} ${wrong}: there is none. Take one of ${known.join(', ')}`);
}

async function main(): Promise<void> {
  if (!isGrowth) requireKnown('only', Object.keys(options.peers ? peers : parts));
  requireKnown('profile', Object.keys(profiled));
  // with less, no license is in its term
  const smallest = isGrowth ? 0.01 : 0.001;
  if (!(scale >= smallest))
    throw new CannotStart(`--scale ${options.scale}: take a number from ${smallest} on`);
  if (!(seconds > 0)) throw new CannotStart(`--seconds ${options.seconds}: take a number above 0`);
  const kept = options.folder;
  const folder = isGrowth && kept ? kept : await mkdtemp(join(tmpdir(), 'lanyard-bench-'));
  await mkdir(folder, { recursive: true });
  // started by root, PostgreSQL runs under another account, which needs access
  await chmod(folder, 0o755);
  const database = await startEmbedded(folder, {
    exclusive: false,
    log: () => undefined,
    settings: isGrowth ? { shared_preload_libraries: 'pg_stat_statements' } : {},
  });
  const children = createChildren();
  try {
    await grantToTests(folder, database.url);
    const settings = {
      LOG_LEVEL: 'info',
      // each machine of the sample calls more often than a machine does
      MACHINE_REQUESTS_PER_HOUR: '1000000',
      EVENTS_PER_KEY_HOUR: '100000000',
    };
    const asAdmin = { ADMIN_EMAIL: admin.email, ADMIN_PASSWORD: admin.password };
    if (isGrowth) {
      const open = async (databaseUrl: string, name: string) => {
        const port = await freePort();
        const env = { DATABASE_URL: databaseUrl, PORT: String(port), DATA_DIR: join(folder, name) };
        const process = await children.start('server/main.js', { ...settings, ...asAdmin, ...env });
        const ours = `http://127.0.0.1:${port}`;
        return (sample: Sample) =>
          signIn({ bare: ours, ours, databaseUrl, admin, folder, sample, seconds, process });
      };
      const superuser = await superuserUrl(folder, database.url);
      return await printGrowth(benchGrowth({ superuser, url: database.url, scale, seconds, open }));
    }
    await migrate(database.url);
    const sizes = sizesAt(scale);
    process.stdout.write(`Filling: ${JSON.stringify(sizes)}\n`);
    const sample = await fillDatabase(database.url, () => newLicenseKey('enterprise'), sizes);
    const ports = { ours: await freePort(), bare: await freePort() };
    const env = { DATABASE_URL: database.url, BARE_FILE: join(folder, 'bare.bin') };
    await children.start('tools/bench/bare-server.js', { ...env, PORT: String(ports.bare) });
    const startOurs = (flags: readonly string[] = []) =>
      children.start(
        'server/main.js',
        { ...settings, ...asAdmin, ...env, PORT: String(ports.ours), DATA_DIR: folder },
        flags,
      );
    /** Another process on the same database, with the same keys; stopped at the end. Returns its address. */
    const startSecond = async (more: Record<string, string> = {}) => {
      const port = await freePort();
      await children.start('server/main.js', {
        ...settings,
        ...env,
        ...more,
        PORT: String(port),
        DATA_DIR: join(folder, 'second'),
        SIGNING_KEY: `file:${join(folder, 'signing-key.pem')}`,
        SECRETS_KEY: `file:${join(folder, 'secrets-key')}`,
      });
      return `http://127.0.0.1:${port}`;
    };
    const stage = {
      bare: `http://127.0.0.1:${ports.bare}`,
      ours: `http://127.0.0.1:${ports.ours}`,
      databaseUrl: database.url,
      admin,
      folder,
      sample,
      seconds,
    };
    if (options.profile !== undefined) {
      const { fill, target } = profiled[options.profile]!;
      const ours = await startOurs([
        '--cpu-prof',
        `--cpu-prof-dir=${folder}`,
        '--cpu-prof-name=call.cpuprofile',
      ]);
      await fill?.(database.url);
      const calls = target(await signIn({ ...stage, process: ours }));
      await load(calls, 5);
      const { perSecond } = await load(calls, seconds);
      await children.stop(ours);
      return printStages(perSecond, stagesOf(join(folder, 'call.cpuprofile'), seconds));
    }
    if (options.peers) {
      const ours = await startOurs();
      await fillUpdates(database.url, scale);
      return await printPeers(
        benchPeers({
          stage: await signIn({ ...stage, process: ours }),
          folder: kept ?? folder,
          records: sizes.licenses,
          children,
          only: options.only?.split(','),
        }),
      );
    }
    printHead();
    for (const [name, { fill, isLong, bench }] of Object.entries(parts)) {
      if (options.only ? !options.only.split(',').includes(name) : isLong) continue;
      const ours = await startOurs();
      await fill?.(database.url);
      (await bench(await signIn({ ...stage, process: ours }), startSecond)).forEach(print);
      await children.stop(ours);
    }
  } finally {
    await children.stopAll();
    await database.stop();
    if (folder !== kept) await rm(folder, { recursive: true, force: true });
  }
}

/** Each part signs in again, because a session expires while the data is filled in. */
async function signIn(stage: Omit<Stage, 'staff' | 'apiKey'>): Promise<Stage> {
  const login = `${stage.ours}/api/v1/auth/login`;
  const { accessToken } = await dataOf<{ accessToken: string }>(login, {}, admin);
  const key = {
    name: 'bench',
    expiresAt: '2099-01-01T00:00:00Z',
    rateLimit: 1_000_000_000,
    scopes: ['validate', 'updates'],
    ipWhitelist: ['127.0.0.0/8', '::1'],
  };
  const staff = { authorization: `Bearer ${accessToken}` };
  const { key: apiKey } = await dataOf<{ key: string }>(`${stage.ours}/api/v1/api-keys`, staff, key);
  return { ...stage, staff, apiKey };
}

const peakMemory = (child: ChildProcess): Row =>
  limitRow('peak memory of the Node process during these jobs', 220, peakMemoryMb(child), 'MB');

function printHead(): void {
  process.stdout.write('\n| job | at least | bare/s | ours/s | ratio | p50 ms | p99 ms | |\n');
  process.stdout.write('| --- | --- | --- | --- | --- | --- | --- | --- |\n');
}

function print({ job, target, bare, ours, met, note }: Row): void {
  const ratio = bare && ours ? `${((100 * ours.perSecond) / bare.perSecond).toFixed(0)} %` : '';
  const rates = [bare?.perSecond.toFixed(0) ?? '', ours?.perSecond.toFixed(0) ?? '', ratio];
  const cells = [job, target, ...rates, ours?.p50 ?? '', ours?.p99 ?? ''];
  process.stdout.write(
    `| ${cells.join(' | ')} | ${[met ? 'met' : 'MISSED', note].filter(Boolean).join(': ')} |\n`,
  );
}

async function printGrowth(rows: AsyncIterable<Growth>): Promise<void> {
  const columns = ['p50 ms', 'ten times', 'p99 ms', 'ten times', 'pages', 'ten times'];
  let head = `\n| call | ${columns.join(' | ')} | growth of p50 |\n|${' --- |'.repeat(8)}\n`;
  for await (const { job, from, to, isFlat } of rows) {
    const figures = [from.p50, to.p50, from.p99, to.p99, from.buffers, to.buffers];
    const cells = [job, ...figures.map((figure) => figure.toFixed(figure < 10 ? 1 : 0))];
    process.stdout.write(`${head}| ${cells.join(' | ')} | ${isFlat ? '' : '**'}`);
    process.stdout.write(`${(to.p50 / from.p50).toFixed(1)}${isFlat ? '' : '**'} |\n`);
    head = '';
  }
}

async function printPeers(
  found: AsyncIterable<{ name: string; result: Comparison | string }>,
): Promise<void> {
  process.stdout.write('\n| peer | job | ours/s | theirs/s | ours to theirs | bare/s | ours to bare |\n');
  process.stdout.write(`|${' --- |'.repeat(7)}\n`);
  for await (const { name, result } of found) {
    if (typeof result === 'string') {
      process.stdout.write(`| ${name} | ${result} | | | | | |\n`);
      continue;
    }
    const { ours, theirs, bare } = result;
    const to = (other: Measured) => (ours.perSecond / other.perSecond).toFixed(1);
    const rates = [ours, theirs, bare].map(({ perSecond }) => perSecond.toFixed(0));
    const cells = [name, result.job, rates[0], rates[1], to(theirs), rates[2], to(bare)];
    process.stdout.write(`| ${cells.join(' | ')} |\n`);
  }
}

/** The time of a call in the process of the server; that of PostgreSQL comes on top. */
function printStages(perSecond: number, stages: ReturnType<typeof stagesOf>): void {
  process.stdout.write(
    `\n${perSecond.toFixed(0)} calls/s\n\n| stage | µs/call | share | most |\n| --- | --- | --- | --- |\n`,
  );
  const total = stages.reduce((sum, { us }) => sum + us, 0);
  for (const { stage, us, functions } of stages) {
    const most = functions.map(([name, part]) => `${name} ${((100 * part) / us).toFixed(0)} %`).join(', ');
    const share = `${((100 * us) / total).toFixed(0)} %`;
    process.stdout.write(`| ${stage} | ${(us / seconds / perSecond).toFixed(1)} | ${share} | ${most} |\n`);
  }
}

runCommand(main);
