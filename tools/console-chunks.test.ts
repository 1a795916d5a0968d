import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { consoleFields } from '../contract/route.ts';
import { everyCall } from '../tests/every-call.ts';

const assets = join(import.meta.dirname, '../dist/web/assets');
const files = readdirSync(assets);

/** The built chunks with these names, and what they import, transitively. */
function loadedWith(...chunks: string[]): string[] {
  const waiting = chunks.map((chunk) => {
    const file = files.find((one) => one.startsWith(`${chunk}-`) && one.endsWith('.js'));
    if (!file) throw new Error(`The build has no chunk ${chunk}.`);
    return file;
  });
  const loaded = new Set<string>();
  for (let file = waiting.pop(); file; file = waiting.pop()) {
    if (loaded.has(file)) continue;
    loaded.add(file);
    const code = readFileSync(join(assets, file), 'utf8');
    for (const [, name] of code.matchAll(/(?:from|import)\s*["'`]\.\/([\w~-]+\.js)["'`]/g))
      waiting.push(name!);
  }
  return [...loaded];
}

const kilobytes = (loaded: string[]) =>
  loaded.reduce((sum, file) => sum + statSync(join(assets, `${file}.gz`)).size, 0) / 1000;

// One change of the imports made the bundler write an export that its module did not have.
test('every script of the console is a valid module', () => {
  const check = `
    for (const file of process.argv.slice(1))
      new (require('node:vm').SourceTextModule)(require('node:fs').readFileSync(file, 'utf8'), { identifier: file });`;
  const scripts = files.filter((file) => file.endsWith('.js')).map((file) => join(assets, file));
  const { stderr, status } = spawnSync(
    process.execPath,
    ['--experimental-vm-modules', '--no-warnings', '-e', check, ...scripts],
    { encoding: 'utf8' },
  );
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
});

test('web/ui/components.css has the styles of every component that is loaded', () => {
  const classesIn = (text: string) => new Set(text.match(/\bm_[0-9a-f]{7,8}\b/g));
  const built = (end: string) =>
    classesIn(
      files
        .filter((file) => file.endsWith(end))
        .map((file) => readFileSync(join(assets, file), 'utf8'))
        .join('\n'),
    );
  const styled = classesIn(readFileSync('node_modules/@mantine/core/styles.layer.css', 'utf8'));
  const [shown, present] = [built('.js'), built('.css')];
  expect(styled.size).toBeGreaterThan(400);
  expect([...styled].filter((one) => shown.has(one) && !present.has(one))).toEqual([]);
});

test('the sign-in screen loads at most 150 kB of JavaScript, gzipped', () => {
  expect(kilobytes(loadedWith('index', 'LoginPage'))).toBeLessThan(150);
});

// What a browser asks for besides, such as calls, fonts and what loads when idle, is counted by `npm run bench`.
test('the licenses screen imports at most 6 scripts with 200 kB of JavaScript, gzipped', () => {
  const loaded = loadedWith('index', 'console', 'LicensesPage');
  expect(loaded.length).toBeLessThanOrEqual(6);
  expect(kilobytes(loaded)).toBeLessThan(200);
});

test.each(['Licenses', 'Customers', 'Releases', 'Analytics', 'Today', 'Machines', 'Audit', 'Users'])(
  'the screen %s imports at most 10 scripts, and no schemas',
  (screen) => {
    const loaded = loadedWith('index', 'console', `${screen}Page`);
    expect(loaded.length).toBeLessThanOrEqual(10);
    expect(loaded.filter((file) => file.startsWith('schemas-'))).toEqual([]);
  },
);

test('the built console has of each of its calls all that it may read', () => {
  const built = files
    .filter((file) => file.endsWith('.js'))
    .flatMap((file) => readFileSync(join(assets, file), 'utf8').replaceAll(/["'`]/g, '').split('{method:'));
  const known = everyCall.flatMap(([name, route]) => {
    const call = built.find((part) => part.startsWith(`${route.method},path:${route.path},`));
    const fields = consoleFields.filter((field) => field !== 'method' && route[field] !== undefined);
    return call ? [{ name, lacks: fields.filter((field) => !call.includes(`${field}:`)) }] : [];
  });
  expect(known.filter(({ lacks }) => lacks.length > 0)).toEqual([]);
  expect(known.length).toBeGreaterThan(100);
});
