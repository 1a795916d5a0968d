import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import path from 'node:path';
import { z } from 'zod';
import { dayMs, hourMs } from '../contract/durations.ts';
import { isEmail } from '../contract/common.ts';
import { mostEvents } from '../contract/update-events.ts';
import { validationDays } from '../contract/validation.ts';
import { CannotStart } from './cannot-start.ts';
import { usableCores } from './cores.ts';
import { wrongEntries } from './ip-list.ts';
import { isPublicAddress } from './outbound-http.ts';
import { passwordProblem } from './password-rules.ts';

/** Keeps the total within PostgreSQL's default connection limit. */
const mostAutoWorkers = 8;

const port = z.coerce.number().int().min(0).max(65535);

/** A century. Times much further from now exist neither in JavaScript nor in PostgreSQL. */
const longestMs = 36_500 * dayMs;

/** `30m`, `12h`, `90s`, `7d`, or the format of the documentation: `30 min`, `12 h`. */
const duration = z.string().transform((value, issues) => {
  const match = /^(\d+)\s*(s|m|min|h|d)$/.exec(value.trim());
  const unitMs = { s: 1000, m: 60_000, min: 60_000, h: hourMs, d: dayMs };
  const ms = match ? Number(match[1]) * unitMs[match[2] as keyof typeof unitMs] : 0;
  if (ms > 0 && ms <= longestMs) return ms;
  issues.addIssue(
    ms > 0 ? 'must be at most 36500d' : 'must be a number above 0 with a unit, such as 30min, 12h or 7d',
  );
  return z.NEVER;
});

/** fetch() and the S3 client refuse a user name or password, and their errors would show it in the log. */
const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address', abort: true })
  .refine(
    (value) => new URL(value).username + new URL(value).password === '',
    'must not contain a user name or password',
  );

const ownUrl = httpUrl
  .refine(
    (value) => !/[?#]/.test(value),
    'must not contain a question mark or #: the service adds paths to it',
  )
  .transform((value) => new URL(value).href);

const postgresUrl = z
  .url({
    protocol: /^postgres(ql)?$/,
    error: 'must be a postgres:// address, in which special characters of the password are percent-encoded',
    abort: true,
  })
  .superRefine((value, issues) => {
    for (const name of ['sslrootcert', 'sslcert', 'sslkey']) {
      const file = new URL(value).searchParams.get(name);
      try {
        if (file) readFileSync(file);
      } catch (error) {
        issues.addIssue(`the file of ${name} cannot be read: ${(error as Error).message}`);
      }
    }
  });

const flag = z.stringbool({
  truthy: ['true'],
  falsy: ['false'],
  case: 'sensitive',
  error: 'must be true or false',
});

/** A comma-separated list. */
const list = (byDefault: string) =>
  z
    .string()
    .default(byDefault)
    .transform((value) =>
      value
        .split(',')
        .map((entry) => entry.trim())
        .filter(Boolean),
    );

const isProxy = (entry: string) =>
  ['loopback', 'linklocal', 'uniquelocal'].includes(entry) || wrongEntries([entry]).length === 0;

/** The absolute path of `file:/var/lib/lanyard` or `file:./binaries`, not percent-decoded; undefined for other text. */
function filePath(value: string): string | undefined {
  const [, file] = /^file:(?:\/\/(?=\/))?(.+)$/.exec(value) ?? [];
  return file && path.resolve(file);
}

/** A key from outside the data directory. */
export type GivenKey = { text: string } | { file: string };

export type StorageConfig =
  | { kind: 'disk'; folder: string }
  | {
      kind: 's3';
      bucket: string;
      /** Empty, or ends with a slash. */
      prefix: string;
      endpoint: string | undefined;
      region: string;
      /** Downloads are redirected to a signed URL of the bucket instead of passing through the service. */
      redirect: boolean;
    };

/** A folder, or `s3://bucket/prefix`. */
const storageUrl = z.string().transform((value, issues) => {
  const folder = filePath(value);
  if (folder) return { kind: 'disk' as const, folder };
  const s3 = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/+([\w./-]*))?$/.exec(value);
  if (s3?.[1]) {
    const prefix = (s3[2] ?? '').replace(/\/+$/, '');
    return { kind: 's3' as const, bucket: s3[1], prefix: prefix && `${prefix}/` };
  }
  issues.addIssue('must be file:<folder> or s3://<bucket>/<prefix>');
  return z.NEVER;
});

/** `file:/mnt/elsewhere/lanyard/head.json`, or an HTTP URL. */
const auditAnchor = z.string().transform((value, issues) => {
  const file = filePath(value);
  if (file) return { kind: 'file' as const, file };
  const url = httpUrl.safeParse(value);
  if (url.success) return { kind: 'http' as const, url: url.data };
  for (const { message } of url.error.issues) issues.addIssue(`${message}, or file:<file>`);
  return z.NEVER;
});

/** A key in the environment: its text, or `file:/run/secrets/key`. */
const givenKey = z.string().transform((value): GivenKey => {
  const file = filePath(value);
  return file ? { file } : { text: value };
});

const settings = z.object({
  PORT: port.default(8080),
  HOST: z.string().min(1).optional(),
  PUBLIC_URL: ownUrl.optional(),
  DATA_DIR: z.string().min(1).default('./data'),
  SIGNING_KEY: givenKey.optional(),
  SECRETS_KEY: givenKey.optional(),
  DATABASE_URL: postgresUrl.optional(),
  DATABASE_DIRECT_URL: postgresUrl.optional(),
  DATABASE_LIMIT_FACTOR: z.coerce.number().min(1).max(100).default(1),
  STORAGE_URL: storageUrl.optional(),
  S3_ENDPOINT: httpUrl.optional(),
  S3_REDIRECT: flag.default(false),
  AWS_REGION: z.string().min(1).optional(),
  AWS_DEFAULT_REGION: z.string().min(1).optional(),
  ADMIN_EMAIL: z.string().refine(isEmail, 'must be an email address').optional(),
  ADMIN_PASSWORD: z.string().optional(),
  REQUIRE_OWN_PASSWORD: flag.default(false),
  SESSION_IDLE: duration.default(30 * 60_000),
  SESSION_MAX: duration.default(12 * hourMs),
  EVENTS_KEEP: duration.default(400 * dayMs),
  VALIDATION_GRACE: duration.default(14 * dayMs),
  SELF_RELEASES_PER_SEAT: z.coerce.number().int().min(0).max(1000).default(2),
  EVENTS_PER_KEY_HOUR: z.coerce.number().int().min(mostEvents).max(100_000_000).default(100_000),
  NEW_MACHINES_PER_KEY_HOUR: z.coerce.number().int().min(1).max(100_000_000).default(1000),
  ENROLLMENTS_PER_LICENSE_HOUR: z.coerce.number().int().min(1).max(100_000_000).default(100),
  MACHINE_REQUESTS_PER_HOUR: z.coerce.number().int().min(1).max(100_000_000).default(600),
  UPDATES_AFTER_REVOCATION: flag.default(true),
  CACHE_MB: z.coerce.number().int().min(1).max(100_000).default(64),
  JOURNAL_MAX_MB: z.coerce.number().int().min(0).max(1_000_000).default(256),
  VALIDATIONS_KEEP: duration
    .refine((ms) => ms >= validationDays * dayMs, `must be at least ${validationDays}d`)
    .default(90 * dayMs),
  AUDIT_ANCHOR_URL: auditAnchor.optional(),
  TRUST_PROXY: list('').refine(
    (entries) => entries.every(isProxy),
    'must be addresses, CIDR ranges, or loopback, linklocal, uniquelocal',
  ),
  DRAIN_SECONDS: z.coerce.number().min(0).max(300).optional(),
  WORKERS: z
    .union(
      [
        z.literal('auto').transform(() => Math.min(mostAutoWorkers, usableCores())),
        z.coerce.number().int().min(1).max(64),
      ],
      'must be a number from 1 to 64, or auto',
    )
    .default(1),
  DIAGNOSTICS_ACCESS: list('loopback, staff').transform((entries, issues) => {
    const addresses = entries.filter((entry) => !['everyone', 'staff', 'loopback'].includes(entry));
    if (wrongEntries(addresses).length > 0)
      issues.addIssue('must be everyone, or staff, loopback, addresses and CIDR ranges');
    if (entries.includes('loopback')) addresses.push('127.0.0.0/8', '::1');
    return { everyone: entries.includes('everyone'), staff: entries.includes('staff'), addresses };
  }),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
});

export const settingNames = Object.keys(settings.shape);

/** All settings, typed. Durations are in milliseconds. */
export type Config = ReturnType<typeof readConfig>;

export class ConfigError extends CannotStart {}

/**
 * Reads the settings from the environment. Throws a ConfigError that lists every problem, so that an operator can fix
 * them all at once.
 */
export function readConfig(env: NodeJS.ProcessEnv, onTerminal = process.stdout.isTTY) {
  // Spaces come from a list of variables, and a carriage return from one written on Windows; a password may have spaces.
  const given = Object.fromEntries(
    Object.entries(env)
      .map(([name, value = '']) => {
        const isPassword = name === 'ADMIN_PASSWORD';
        return [name, isPassword ? value.replace(/\r$/, '') : value.trim()] as const;
      })
      .filter(([, value]) => value.trim() !== ''),
  );
  const parsed = settings.safeParse(given);
  const issues = parsed.success ? [] : parsed.error.issues;
  const problems = issues.map((issue) => problemOf(issue.path.join('.'), issue.message));
  if (!given.ADMIN_EMAIL !== !given.ADMIN_PASSWORD) {
    problems.push('ADMIN_EMAIL and ADMIN_PASSWORD: set both or neither');
  }
  if (parsed.success && given.SESSION_IDLE && parsed.data.SESSION_IDLE > parsed.data.SESSION_MAX) {
    problems.push('SESSION_IDLE: must not be longer than SESSION_MAX, which ends a session in any case');
  }
  if (given.DATABASE_DIRECT_URL && !given.DATABASE_URL) {
    problems.push(
      'DATABASE_DIRECT_URL: belongs to a DATABASE_URL that leads to a pooler; set DATABASE_URL too',
    );
  }
  const { ADMIN_EMAIL: email = '', ADMIN_PASSWORD: password } = given;
  const wrong = password && passwordProblem(password, email);
  if (wrong) problems.push(problemOf('ADMIN_PASSWORD', wrong));
  if (!parsed.success || problems.length > 0) {
    throw new ConfigError(
      `Lanyard cannot start with these settings:\n${problems.map((p) => `  - ${p}`).join('\n')}`,
    );
  }
  const s = parsed.data;
  const isBehindProxy = s.TRUST_PROXY.length > 0 || env.KUBERNETES_SERVICE_HOST !== undefined;
  const inContainer = env.container !== undefined || env.KUBERNETES_SERVICE_HOST !== undefined;
  return {
    port: s.PORT,
    // For that name, Fastify would listen at its other address with a server that lacks our limits.
    host: s.HOST === 'localhost' ? '127.0.0.1' : (s.HOST ?? (inContainer ? '0.0.0.0' : '127.0.0.1')),
    publicUrl: (s.PUBLIC_URL ?? `http://localhost:${s.PORT}`).replace(/\/+$/, ''),
    dataDir: path.resolve(s.DATA_DIR),
    /** Undefined: use the files of the data directory. */
    signingKey: s.SIGNING_KEY,
    secretsKey: s.SECRETS_KEY,
    databaseUrl: s.DATABASE_URL,
    /** The address of the server itself. Differs from `databaseUrl` only if that points to a pooler. */
    databaseDirectUrl: s.DATABASE_DIRECT_URL ?? s.DATABASE_URL,
    /** How many times longer than usual the database may take before calls get 503. */
    databaseLimitFactor: s.DATABASE_LIMIT_FACTOR,
    storage: toStorage(s),
    admin:
      s.ADMIN_EMAIL && s.ADMIN_PASSWORD ? { email: s.ADMIN_EMAIL, password: s.ADMIN_PASSWORD } : undefined,
    /** Users whose password was set by another person have no permissions until they change it. */
    requireOwnPassword: s.REQUIRE_OWN_PASSWORD,
    sessionIdleMs: Math.min(s.SESSION_IDLE, s.SESSION_MAX),
    sessionMaxMs: s.SESSION_MAX,
    /** How long single update events are kept; their totals are kept permanently. */
    eventsKeepMs: s.EVENTS_KEEP,
    /** How long single validations are kept; their daily counts are kept permanently. */
    validationsKeepMs: s.VALIDATIONS_KEEP,
    /** How long a program may rely on a valid result without validating again. */
    validationGraceMs: s.VALIDATION_GRACE,
    /** How many times per day and seat the machines of a license may release a seat themselves. */
    selfReleasesPerSeat: s.SELF_RELEASES_PER_SEAT,
    /** How many update events an API key may report per hour. */
    eventsPerKeyHour: s.EVENTS_PER_KEY_HOUR,
    /** How many unknown machines an API key may name per hour, in reports, feeds and downloads. */
    newMachinesPerKeyHour: s.NEW_MACHINES_PER_KEY_HOUR,
    /** How many machines may enroll on a license per hour; at least its number of seats. */
    enrollmentsPerLicenseHour: s.ENROLLMENTS_PER_LICENSE_HOUR,
    /** How many requests a machine may make per hour with its token, and how many events it may report. */
    machineRequestsPerHour: s.MACHINE_REQUESTS_PER_HOUR,
    /** Whether machines of a revoked license or an inactive customer may still fetch updates with their tokens. */
    updatesAfterRevocation: s.UPDATES_AFTER_REVOCATION,
    /** The maximum size of the facts that each process keeps of licenses, machines and tokens. */
    cacheBytes: s.CACHE_MB * 1_000_000,
    /** The maximum size of the journal, which holds records while the database cannot accept them. */
    journalMaxBytes: s.JOURNAL_MAX_MB * 1_000_000,
    trustProxy: s.TRUST_PROXY,
    /** How long a stopping process still serves while it reports that it is not ready. */
    drainMs: 1000 * (s.DRAIN_SECONDS ?? (isBehindProxy && !onTerminal ? 5 : 0)),
    workers: s.WORKERS,
    /** Who may read `/metrics`, `/docs` and `/openapi.json`: everyone, or staff and the listed addresses. */
    diagnosticsAccess: s.DIAGNOSTICS_ACCESS,
    /** An additional place to which the head of the audit log is written or sent. */
    auditAnchor: s.AUDIT_ANCHOR_URL,
    logLevel: s.LOG_LEVEL,
  };
}

/** In one style, also what Zod and the rules for passwords say as sentences. */
const problemOf = (name: string, message: string): string =>
  `${name}: ${message.slice(0, 1).toLowerCase()}${message.slice(1)}`;

/** Warnings about settings that are dangerous, or work only in part. */
export function warningsOf({ publicUrl }: Config): string[] {
  const { protocol, hostname, pathname } = new URL(publicUrl);
  const isReadable = protocol === 'http:' && isPublicHost(hostname.replace(/^\[|\]$/g, ''));
  return [
    isReadable &&
      `PUBLIC_URL is ${publicUrl}: plain http on a public address, so passwords, sessions and license keys can be read ` +
        'on the way. Put a proxy that speaks TLS in front and set PUBLIC_URL to its https address.',
    pathname !== '/' &&
      `PUBLIC_URL is ${publicUrl}: it has a path, and the console works only at the root of a host. ` +
        'Give the service a host name of its own.',
  ].filter((warning) => warning !== false);
}

/** A public address, or a name outside of local networks. */
const isPublicHost = (host: string): boolean =>
  isIP(host) > 0
    ? isPublicAddress(host)
    : host.includes('.') && !/\.(localhost|local|internal|lan|test|home\.arpa)$/.test(host);

function toStorage(s: z.output<typeof settings>): StorageConfig {
  const place = s.STORAGE_URL ?? { kind: 'disk', folder: path.resolve(s.DATA_DIR, 'binaries') };
  if (place.kind === 'disk') return place;
  return {
    ...place,
    endpoint: s.S3_ENDPOINT,
    region: s.AWS_REGION ?? s.AWS_DEFAULT_REGION ?? 'us-east-1',
    redirect: s.S3_REDIRECT,
  };
}
