import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { newFolder } from '../tests/place.ts';

// what npm leaves behind, without what is for tests or for another platform
const npm = `
import { readFileSync, writeFileSync } from 'node:fs';
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const left = (one) => one.integrity && !one.optional && (!one.dev || process.argv.includes('--include=dev'));
const installed = Object.fromEntries(Object.entries(packages).filter(([, one]) => left(one)));
writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages: installed }));`;

const lockOf = (integrity: string) =>
  JSON.stringify({
    packages: {
      '': { name: 'lanyard' },
      'node_modules/@lanyard/web': { resolved: 'web', link: true },
      'node_modules/pg': { integrity },
      'node_modules/of-another-platform': { integrity, optional: true },
      'node_modules/vitest': { integrity, dev: true },
    },
  });

test('packages and build are those of the checkout, whatever the times of its files', async () => {
  const root = await newFolder();
  const write = (name: string, text: string, at = new Date()) => {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
    utimesSync(join(root, name), at, at);
  };
  const prepare = (...what: string[]) =>
    execFileSync(process.execPath, [join(root, 'tools/prepare.mjs'), ...what], {
      encoding: 'utf8',
      env: { ...process.env, npm_execpath: join(root, 'npm.mjs'), LANYARD_COMMIT: 'test' },
    }).match(/\w+(?= …)/g);
  for (const name of ['prepare.mjs', 'process.mjs'])
    cpSync(join(import.meta.dirname, name), join(root, 'tools', name));
  write('npm.mjs', npm);
  write('tools/build-server.mjs', '');
  write('node_modules/vite/package.json', '{ "bin": "build.mjs" }');
  write('node_modules/vite/build.mjs', '');
  write('package.json', '{ "version": "1.0.0" }');
  write('package-lock.json', lockOf('first'));
  write('server/main.ts', 'first');
  write('server/old.ts', 'first');
  const everything = ['packages', 'server', 'console'];
  expect(prepare('build')).toEqual(everything);
  expect(prepare('build')).toBeNull();
  expect(prepare('build', 'tests')).toEqual(['packages']);
  // as a full disk leaves it
  write('node_modules/.package-lock.json', '');
  expect(prepare('build')).toEqual(['packages']);
  expect(prepare('build')).toBeNull();

  // an archive has the time of its commit, which may be before the build of another version
  const committed = new Date('2020-02-02');
  write('package-lock.json', lockOf('second'), committed);
  expect(prepare('build')).toEqual(everything);
  write('server/main.ts', 'other', committed);
  expect(prepare('build')).toEqual(['server', 'console']);
  rmSync(join(root, 'server/old.ts'));
  expect(prepare('build')).toEqual(['server', 'console']);
  expect(prepare('build')).toBeNull();
});
