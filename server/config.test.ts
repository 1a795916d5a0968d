import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError, readConfig, warningsOf } from './config.ts';
import { usableCores } from './cores.ts';

const problemsOf = (env: NodeJS.ProcessEnv): string[] => {
  try {
    readConfig(env);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message
      .split('\n')
      .slice(1)
      .map((line) => line.replace('  - ', ''));
  }
  return [];
};

describe('the settings', () => {
  test('have the defaults of the design', () => {
    expect(readConfig({})).toMatchObject({
      port: 8080,
      host: '127.0.0.1',
      publicUrl: 'http://localhost:8080',
      databaseUrl: undefined,
      databaseDirectUrl: undefined,
      admin: undefined,
      requireOwnPassword: false,
      sessionIdleMs: 1_800_000,
      sessionMaxMs: 43_200_000,
      eventsKeepMs: 34_560_000_000,
      validationsKeepMs: 7_776_000_000,
      validationGraceMs: 1_209_600_000,
      selfReleasesPerSeat: 2,
      enrollmentsPerLicenseHour: 100,
      machineRequestsPerHour: 600,
      updatesAfterRevocation: true,
      eventsPerKeyHour: 100_000,
      newMachinesPerKeyHour: 1000,
      trustProxy: [],
      drainMs: 0,
      workers: 1,
      diagnosticsAccess: { everyone: false, staff: true, addresses: ['127.0.0.0/8', '::1'] },
      logLevel: 'info',
    });
    expect(readConfig({ PORT: '9000' }).publicUrl).toBe('http://localhost:9000');
    expect(readConfig({ container: 'docker' }).host).toBe('0.0.0.0');
    expect(readConfig({ container: 'docker', HOST: '10.0.0.1' }).host).toBe('10.0.0.1');
    expect(readConfig({ HOST: 'localhost' }).host).toBe('127.0.0.1');
  });

  test.each([
    [{}, { kind: 'disk', folder: path.resolve('data/binaries') }],
    [{ DATA_DIR: '/srv/l' }, { kind: 'disk', folder: '/srv/l/binaries' }],
    [{ STORAGE_URL: 'file:/srv/b' }, { kind: 'disk', folder: '/srv/b' }],
    [{ STORAGE_URL: 'file:///srv/b' }, { kind: 'disk', folder: '/srv/b' }],
    [{ STORAGE_URL: 'file:./b c' }, { kind: 'disk', folder: path.resolve('b c') }],
    [
      { STORAGE_URL: 's3://bucket', AWS_REGION: 'eu-central-1' },
      {
        kind: 's3',
        bucket: 'bucket',
        prefix: '',
        endpoint: undefined,
        region: 'eu-central-1',
        redirect: false,
      },
    ],
    [
      {
        STORAGE_URL: 's3://my.bucket/some/where/',
        S3_ENDPOINT: 'http://127.0.0.1:7480',
        S3_REDIRECT: 'true',
      },
      {
        kind: 's3',
        bucket: 'my.bucket',
        prefix: 'some/where/',
        endpoint: 'http://127.0.0.1:7480',
        region: 'us-east-1',
        redirect: true,
      },
    ],
  ])('read the storage of %j', (env, storage) => {
    expect(readConfig(env).storage).toEqual(storage);
  });

  test('take the email of a start without settings', () => {
    const env = { ADMIN_EMAIL: 'admin@localhost', ADMIN_PASSWORD: 'correct horse' };
    expect(readConfig(env).admin).toEqual({ email: 'admin@localhost', password: 'correct horse' });
  });

  test('take an empty variable for one that is not set', () => {
    for (const empty of ['', ' ', '\r'])
      expect(
        readConfig({ PORT: empty, DATABASE_URL: empty, JOURNAL_MAX_MB: empty, ADMIN_PASSWORD: empty }),
      ).toMatchObject({ port: 8080, journalMaxBytes: 256_000_000, admin: undefined });
  });

  test('leave out the spaces around a value, but for those of the password', () => {
    const env = {
      HOST: ' ::1\r',
      DATA_DIR: '/srv/l ',
      ADMIN_EMAIL: 'a@b.example ',
      ADMIN_PASSWORD: ' two sips \r',
    };
    expect(readConfig(env)).toMatchObject({
      host: '::1',
      dataDir: '/srv/l',
      admin: { email: 'a@b.example', password: ' two sips ' },
    });
  });

  test('take a PUBLIC_URL in upper case for the https address that it is', () => {
    expect(readConfig({ PUBLIC_URL: 'HTTPS://Lanyard.Example/' }).publicUrl).toBe('https://lanyard.example');
  });

  test.each([
    ['90s', 90_000],
    ['30m', 1_800_000],
    ['30 min', 1_800_000],
    ['12 h', 43_200_000],
    ['7d', 604_800_000],
  ])('read %s as a duration', (value, ms) => {
    expect(readConfig({ SESSION_IDLE: value, SESSION_MAX: '30d' }).sessionIdleMs).toBe(ms);
  });

  test('take a shorter SESSION_MAX for the idle time too', () => {
    expect(readConfig({ SESSION_MAX: '10m' })).toMatchObject({
      sessionIdleMs: 600_000,
      sessionMaxMs: 600_000,
    });
  });

  test('name every problem at once', () => {
    const problems = problemsOf({
      PORT: '99999',
      PUBLIC_URL: 'ftp://x',
      DATABASE_URL: 'mysql://x',
      ADMIN_EMAIL: 'nobody',
      SESSION_IDLE: 'soon',
      SESSION_MAX: '12',
      TRUST_PROXY: 'my proxy',
      LOG_LEVEL: 'loud',
    });
    for (const name of [
      'PORT',
      'PUBLIC_URL',
      'DATABASE_URL',
      'ADMIN_EMAIL',
      'SESSION_IDLE',
      'SESSION_MAX',
      'TRUST_PROXY',
      'LOG_LEVEL',
      'ADMIN_EMAIL and ADMIN_PASSWORD',
    ]) {
      expect(
        problems.some((problem) => problem.startsWith(`${name}:`)),
        name,
      ).toBe(true);
    }
    expect(problems).toHaveLength(9);
  });

  test.each([
    [{ PORT: 'http' }, 'PORT'],
    [{ PORT: '80.5' }, 'PORT'],
    [{ PORT: '-1' }, 'PORT'],
    [{ EVENTS_KEEP: '36501d' }, 'EVENTS_KEEP'],
    [{ VALIDATIONS_KEEP: '29d' }, 'VALIDATIONS_KEEP'],
    [{ SESSION_MAX: '99999999999999999999d' }, 'SESSION_MAX'],
    [{ PUBLIC_URL: 'https://lanyard.example/?from=mail' }, 'PUBLIC_URL'],
    [{ PUBLIC_URL: 'https://lanyard.example/#today' }, 'PUBLIC_URL'],
    [{ DATABASE_URL: 'postgres://l:a#b@db.example/l' }, 'DATABASE_URL'],
    [
      { DATABASE_URL: 'postgres://db.example/l?sslmode=verify-full&sslrootcert=/none/ca.pem' },
      'DATABASE_URL: the file of sslrootcert cannot be read',
    ],
    [{ SESSION_IDLE: '0m' }, 'SESSION_IDLE'],
    [{ SESSION_MAX: '0s' }, 'SESSION_MAX'],
    [{ SESSION_IDLE: '13h' }, 'SESSION_IDLE'],
    [{ SESSION_IDLE: '2h', SESSION_MAX: '1h' }, 'SESSION_IDLE'],
    [{ EVENTS_PER_KEY_HOUR: '499' }, 'EVENTS_PER_KEY_HOUR'],
    [{ NEW_MACHINES_PER_KEY_HOUR: '0' }, 'NEW_MACHINES_PER_KEY_HOUR'],
    [{ ADMIN_EMAIL: 'a@b.example' }, 'ADMIN_EMAIL and ADMIN_PASSWORD'],
    [{ ADMIN_EMAIL: 'a@b.example', ADMIN_PASSWORD: 'short' }, 'ADMIN_PASSWORD'],
    [{ ADMIN_EMAIL: 'a@b.example', ADMIN_PASSWORD: 'Passw0rd' }, 'ADMIN_PASSWORD'],
    [{ ADMIN_EMAIL: 'root@b.example', ADMIN_PASSWORD: 'root@b.example' }, 'ADMIN_PASSWORD'],
    [{ STORAGE_URL: '/srv/binaries' }, 'STORAGE_URL'],
    [{ STORAGE_URL: 's3://' }, 'STORAGE_URL'],
    [{ STORAGE_URL: 's3://Bucket' }, 'STORAGE_URL'],
    [{ S3_ENDPOINT: 'storage.example' }, 'S3_ENDPOINT'],
    [{ S3_REDIRECT: 'yes' }, 'S3_REDIRECT'],
    [{ PUBLIC_URL: 'https://ann@lanyard.example' }, 'PUBLIC_URL'],
    [{ S3_ENDPOINT: 'https://:secret@storage.example' }, 'S3_ENDPOINT'],
    [{ AUDIT_ANCHOR_URL: 'https://ann:secret@head.example' }, 'AUDIT_ANCHOR_URL'],
    [{ AUDIT_ANCHOR_URL: 'head.json' }, 'AUDIT_ANCHOR_URL'],
    [{ TRUST_PROXY: '10.0.0.1, example.com' }, 'TRUST_PROXY'],
    [{ TRUST_PROXY: '10.0.0.0/33' }, 'TRUST_PROXY'],
    // the number of proxies elsewhere, and a forgotten part
    [{ TRUST_PROXY: '1' }, 'TRUST_PROXY'],
    [{ TRUST_PROXY: '10.0.0' }, 'TRUST_PROXY'],
    [{ TRUST_PROXY: '10.0/16' }, 'TRUST_PROXY'],
    [{ DIAGNOSTICS_ACCESS: 'admins' }, 'DIAGNOSTICS_ACCESS'],
    [{ DIAGNOSTICS_ACCESS: 'staff, 10.0.0.0/33' }, 'DIAGNOSTICS_ACCESS'],
  ])('refuse %j, and name it', (env, name) => {
    expect(problemsOf(env)).toEqual([expect.stringMatching(new RegExp(`^(?=[^:]+: [a-z])${name}: .`))]);
  });

  test.each([[''], ['10.0.0.1'], ['10.0.0.0/8, ::1'], ['loopback, uniquelocal']])(
    'take TRUST_PROXY %j',
    (TRUST_PROXY) => {
      expect(problemsOf({ TRUST_PROXY })).toEqual([]);
    },
  );

  test.each([
    'http://lanyard.example.com',
    'http://lanyard.example.com:8080/',
    'http://8.8.8.8',
    'http://[2606:4700::1]:8080',
  ])('warn of plain http at %s', (PUBLIC_URL) => {
    expect(warningsOf(readConfig({ PUBLIC_URL }))).toEqual([expect.stringMatching(/^PUBLIC_URL .*https/)]);
  });

  test('warn of a path, below which the console is an empty page', () => {
    const config = readConfig({ PUBLIC_URL: 'https://it.example.com/lanyard/' });
    expect(warningsOf(config)).toEqual([expect.stringMatching(/^PUBLIC_URL .* path, .* root of a host/)]);
  });

  test.each([
    undefined,
    'https://lanyard.example.com',
    'https://lanyard.example.com/',
    'http://localhost:8080',
    'http://127.0.0.1',
    'http://[::1]',
    'http://10.1.2.3',
    'http://lanyard',
    'http://lanyard.internal',
  ])('say nothing against %s', (PUBLIC_URL) => {
    expect(warningsOf(readConfig({ PUBLIC_URL }))).toEqual([]);
  });
});

describe('a stop', () => {
  const drainOf = (env: NodeJS.ProcessEnv, onTerminal = false) => readConfig(env, onTerminal).drainMs;
  test('is told to a balancer for five seconds behind a proxy, and to nobody on a terminal', () => {
    expect(drainOf({})).toBe(0);
    expect(drainOf({ TRUST_PROXY: '10.0.0.1' })).toBe(5000);
    expect(drainOf({ KUBERNETES_SERVICE_HOST: '10.0.0.1' })).toBe(5000);
    expect(drainOf({ TRUST_PROXY: '10.0.0.1' }, true)).toBe(0);
    expect(drainOf({ DRAIN_SECONDS: '12.5' }, true)).toBe(12_500);
    expect(problemsOf({ DRAIN_SECONDS: 'long' })).toEqual([expect.stringMatching(/^DRAIN_SECONDS: /)]);
  });
});

test('the number of workers is a number, or one a core', () => {
  expect(readConfig({ WORKERS: '3' }).workers).toBe(3);
  expect(readConfig({ WORKERS: 'auto' }).workers).toBe(Math.min(8, usableCores()));
  for (const WORKERS of ['0', '65', '1.5'])
    expect(problemsOf({ WORKERS }), WORKERS).toEqual([expect.stringMatching(/^WORKERS: /)]);
  for (const WORKERS of ['many', 'AUTO'])
    expect(problemsOf({ WORKERS })).toEqual(['WORKERS: must be a number from 1 to 64, or auto']);
});
