import { execFile } from 'node:child_process';
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { keys } from '../../contract/keys.ts';
import { makeLicense } from '../../tests/factories.ts';
import { movableClock, startTestServer } from '../../tests/harness.ts';
import { newFolder } from '../../tests/place.ts';
import { licenseKey, startFakeServer, startProxy } from './fake-server.testing.ts';
import { localTls, tls } from './tls.testing.ts';
import type { CheckResult } from './types.ts';

/* The package as a program gets it: packed, installed without a network, used from JavaScript and TypeScript. */

const run = promisify(execFile);
const root = path.join(import.meta.dirname, '../..');
const compiler = path.join(root, 'node_modules/typescript/bin/tsc');
let app: string;

/** Without what the runner of these tests says to its own processes. */
const { NODE_OPTIONS: _, ...environment } = process.env;

beforeAll(async () => {
  app = await newFolder();
  // in a copy: other tests use the build in the checkout meanwhile
  const copy = path.join(app, 'source');
  await mkdir(copy);
  for (const name of ['package.json', 'README.md'])
    await copyFile(path.join(root, 'client', name), path.join(copy, name));
  const build = ['-p', path.join(root, 'client/tsconfig.json'), '--outDir', path.join(copy, 'dist')];
  await run(process.execPath, [compiler, ...build]);
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', app], { cwd: copy });
  const [tarball] = (await readdir(app)).filter((name) => name.endsWith('.tgz'));
  await writeFile(path.join(app, 'package.json'), '{ "name": "app", "private": true }');
  const install = ['install', '--offline', '--no-audit', '--no-fund', `./${tarball}`];
  await run('npm', install, { cwd: app, env: { ...environment, npm_config_cache: path.join(app, 'cache') } });
});

let programs = 0;

/** Runs a program that checks its license, in a process of its own; returns what it prints. */
async function startProgram(
  fake: { url: string; signer: { publicKeyPem: string } },
  { folder, env = {}, times = 1 }: { folder: string; env?: Record<string, string>; times?: number },
): Promise<CheckResult[]> {
  const options = {
    server: fake.url,
    licenseKey,
    publicKeys: [fake.signer.publicKeyPem],
    folder,
    machineId: 'ws-07',
    // also for the lock, which is not fair: each of several may wait for all others
    timeoutMs: 120_000,
  };
  const program = `
    import { createClient } from '@lanyard/client';
    const client = createClient(${JSON.stringify(options)});
    const results = [];
    for (let i = 0; i < ${times}; i++) results.push(await client.check());
    console.log(JSON.stringify(results));`;
  const file = path.join(app, `program-${++programs}.mjs`);
  await writeFile(file, program);
  const { stdout } = await run(process.execPath, [file], { env: { ...environment, ...env } });
  return JSON.parse(stdout) as CheckResult[];
}

test('the package holds what it needs, and nothing else', async () => {
  const installed = path.join(app, 'node_modules/@lanyard/client');
  const names = (await readdir(installed, { recursive: true })).toSorted();
  expect(names).toContain('README.md');
  expect(names).toContain('dist/index.d.ts');
  expect(names.filter((name) => /test|vectors|\.tsx?$/.test(name.replace('.d.ts', '')))).toEqual([]);
  const { dependencies } = JSON.parse(await readFile(path.join(installed, 'package.json'), 'utf8')) as {
    dependencies?: object;
  };
  expect(dependencies).toBeUndefined();
  expect(await readdir(path.join(app, 'node_modules'))).toEqual(['.package-lock.json', '@lanyard']);
  for (const name of names.filter((one) => one.endsWith('.js'))) {
    const text = await readFile(path.join(installed, name), 'utf8');
    for (const [, from] of text.matchAll(/^(?:import|export)[^'"]*from ['"]([^'"]+)['"]/gm))
      expect(from, name).toMatch(/^(node:|\.\/)/);
  }
});

test('a program in JavaScript checks its license', async () => {
  const fake = await startFakeServer();
  fake.clock.at = Date.now();
  const [first, second] = await startProgram(fake, { folder: await newFolder(), times: 2 });
  expect(first).toMatchObject({ valid: true, source: 'online', modules: ['mod_lung_nodule'] });
  expect(second).toMatchObject({ valid: true, source: 'online' });
});

test('https goes through the proxy of the environment', async () => {
  const fake = await startFakeServer(tls);
  fake.clock.at = Date.now();
  // as with curl, only what could be read otherwise must be encoded
  const proxy = await startProxy('s3cret%@');
  const folder = await newFolder();
  const ca = path.join(folder, 'ca.pem');
  await writeFile(ca, tls.cert + localTls.cert);
  const env = { HTTPS_PROXY: `http://hospital:s3cret%%40@${proxy.host}`, NODE_EXTRA_CA_CERTS: ca };
  const [result] = await startProgram(fake, { folder: path.join(folder, 'state'), env });
  expect(result).toMatchObject({ valid: true, source: 'online' });
  expect(proxy.asked).toEqual([`CONNECT ${new URL(fake.url).host}`]);
  expect(fake.serverNames).toEqual(['lanyard.test']);

  // the proxy cannot read along: without its certificate, the server is not believed
  const { NODE_EXTRA_CA_CERTS: __, ...without } = env;
  const [stranger] = await startProgram(fake, { folder: path.join(folder, 'other'), env: without });
  expect(stranger).toMatchObject({ valid: false, code: 'NO_ANSWER' });
  expect(stranger!.problem).toMatch(/certificate/);

  // a proxy by https has a certificate of its own
  for (const [certificate, valid] of [
    [localTls, true],
    [tls, false],
  ] as const) {
    const { host } = await startProxy('s3cret@', certificate);
    const secure = { ...env, HTTPS_PROXY: `https://hospital:s3cret%40@localhost:${host.split(':')[1]}` };
    const [bySecure] = await startProgram(fake, { folder: path.join(folder, String(valid)), env: secure });
    expect(bySecure).toMatchObject({ valid });
    if (!valid) expect(bySecure!.problem).toContain('localhost. is not in the cert');
  }

  // by its address, the certificate is that of this address, and not of the proxy
  for (const [address, valid] of [
    ['192.0.2.7', true],
    ['192.0.2.8', false],
  ] as const) {
    fake.url = `https://${address}:${new URL(fake.url).port}`;
    const [byAddress] = await startProgram(fake, { folder: path.join(folder, address), env });
    expect(byAddress).toMatchObject({ valid });
    if (!valid) expect(byAddress!.problem).toContain(`${address} is not in the cert`);
  }
});

test('four processes that start at once in one folder are one machine', async () => {
  const fake = await startFakeServer();
  fake.clock.at = Date.now();
  const folder = await newFolder();
  const results = await Promise.all([1, 2, 3, 4].map(() => startProgram(fake, { folder, times: 5 })));
  for (const result of results.flat()) expect(result).toMatchObject({ valid: true, source: 'online' });
  expect(fake.calls.filter(({ path: at }) => at.endsWith('/enroll'))).toHaveLength(1);
  const numbers = fake.calls.flatMap(({ headers }) => headers['x-machine-sequence'] ?? []).map(Number);
  expect(numbers).toEqual(Array.from({ length: 19 }, (_each, i) => i + 1));
});

test('the README comes to a valid license in ten lines, on the service itself', async () => {
  // the program has the clock of the machine
  const server = await startTestServer({ clock: movableClock(new Date()) });
  const staff = server.api((await server.signInAs('super_admin')).byCookie);
  const { licenseKey: own } = await makeLicense(staff);
  const [published] = await server.api().ok(keys.published);
  const readme = await readFile(path.join(root, 'client/README.md'), 'utf8');
  const [install, program] = [...readme.matchAll(/```(?:sh|js)\n([^`]*)```/g)].map(([, text]) => text!);
  expect(`${install}${program}`.trim().split('\n').length).toBeLessThanOrEqual(10);
  const values: Record<string, string> = {
    server: server.url,
    licenseKey: own,
    publicKeys: published!.publicKeyPem,
    folder: await newFolder(),
  };
  const filled = program!.replaceAll(/(\w+): (\[?)'[^']*'/g, (_all, name: string, open: string) => {
    return `${name}: ${open}${JSON.stringify(values[name])}`;
  });
  const file = path.join(app, 'readme.mjs');
  await writeFile(file, filled);
  const { stdout } = await run(process.execPath, [file], { env: environment });
  expect(stdout).toContain('valid: true');
});

test('a program in TypeScript gets the types', async () => {
  const folder = path.join(app, 'typed');
  await mkdir(folder);
  const program = `
    import { createClient, type CheckResult } from '@lanyard/client';
    const client = createClient({ server: 'https://x', licenseKey: '', publicKeys: [], folder: '.', fetch });
    const result: CheckResult = await client.check();
    const until: string | null = result.expiresAt;
    const asked = await client.offlineRequest();
    if (asked.ok) console.log(asked.request, until);
    // @ts-expect-error -- there is no such option
    createClient({ server: 'https://x', licenseKey: '', publicKeys: [], folder: '.', apiKey: '' });
    export {};`;
  await writeFile(path.join(folder, 'program.mts'), program);
  const options = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    'false',
    '--module',
    'nodenext',
    '--target',
    'es2022',
  ];
  const types = ['--types', ''];
  await run(process.execPath, [compiler, ...options, ...types, 'program.mts'], { cwd: folder }).catch(
    (error: { stdout: string }) => expect.fail(error.stdout),
  );
});
