import type { ChildProcess } from 'node:child_process';
import type { Sample } from './dataset.ts';
import { compare, load, type Measured, type Target } from './load.ts';

export type Row = {
  job: string;
  target: string;
  bare?: Measured;
  /** Absent if the result is in `note`. */
  ours?: Measured;
  met: boolean;
  note?: string;
};
export type Stage = {
  bare: string;
  ours: string;
  bearer: string;
  apiKey: string;
  admin: { email: string; password: string };
  /** The server under test. */
  process: ChildProcess;
  folder: string;
  sample: Sample;
  seconds: number;
};

const terms = [
  'karolinska inst',
  'zur',
  'lung nodule',
  'osaka',
  'CLINIC 12',
  'december 24',
  'mod_copd',
  'hospital 4',
  'groote lab',
];

/** The jobs of licensing, each compared with the bare server. */
export async function benchLicensing(stage: Stage): Promise<Row[]> {
  const { bare, ours, sample } = stage;
  const staff = { authorization: `Bearer ${stage.bearer}` };
  const pick = (n: number) => sample[n % sample.length]!;
  const row: Target = { url: bare, next: (n) => ({ path: `/row?key=${pick(n).licenseKey}` }) };

  const ratioJob = async (job: string, atLeast: number, a: Target, b: Target, p99?: number): Promise<Row> => {
    const measured = await compare(a, b, stage.seconds);
    const ratio = measured.ours.perSecond / measured.bare.perSecond;
    const met = ratio >= atLeast && (p99 === undefined || measured.ours.p99 <= p99);
    const limit = p99 === undefined ? '' : `, p99 ≤ ${p99} ms`;
    return { job, target: `${atLeast * 100} %${limit}`, ...measured, met };
  };

  return [
    await ratioJob(
      'validate, known machine, API key',
      0.4,
      row,
      {
        url: `${ours}/api/licenses/validate`,
        method: 'POST',
        headers: { 'x-api-key': stage.apiKey },
        next: (n) => ({ body: { ...pick(n), nonce: String(n), appVersion: '4.2.0' } }),
      },
      15,
    ),
    await ratioJob(
      'list 50 of 100,000 with counts',
      0.5,
      { url: `${bare}/rows` },
      {
        url: `${ours}/api/v1/licenses?tab=active&limit=50`,
        headers: staff,
      },
    ),
    await searchJob(ours, staff),
    await ratioJob(
      'create a customer with audit',
      0.33,
      { url: `${bare}/insert`, method: 'POST' },
      {
        url: `${ours}/api/customers`,
        method: 'POST',
        headers: staff,
        next: (n) => ({ body: { name: `Bench ${n}`, country: 'DE' } }),
      },
    ),
    await ratioJob(
      'login, argon2id m=19456 t=2 p=1',
      0.5,
      { url: `${bare}/argon2`, method: 'POST' },
      {
        url: `${ours}/api/v1/auth/login`,
        method: 'POST',
        next: () => ({ body: { email: 'bench@example.org', password: 'bench password' } }),
      },
    ),
    await readsUnderLogins(ours, staff),
  ];
}

async function searchJob(ours: string, headers: Record<string, string>): Promise<Row> {
  const target = (connections: number): Target => ({
    url: ours,
    headers,
    connections,
    next: (n) => ({
      path: `/api/v1/licenses?tab=active&limit=50&search=${encodeURIComponent(terms[n % terms.length]!)}`,
    }),
  });
  const measured = await load(target(1), 6);
  return {
    job: 'substring search, first page, one user',
    target: 'p50 ≤ 20 ms',
    ours: measured,
    met: measured.p50 <= 20,
  };
}

/** The p99 of reads during many sign-ins may be at most twice the p99 without them. */
async function readsUnderLogins(ours: string, headers: Record<string, string>): Promise<Row> {
  const reads: Target = { url: `${ours}/api/v1/licenses?tab=active&limit=50`, headers, connections: 4 };
  const logins: Target = {
    url: `${ours}/api/v1/auth/login`,
    method: 'POST',
    next: () => ({ body: { email: 'bench@example.org', password: 'bench password' } }),
  };
  const idle = await load(reads, 5);
  const [busy] = await Promise.all([load(reads, 5), load(logins, 6)]);
  return {
    job: 'reads during many sign-ins (p99)',
    target: 'at most 2 × idle',
    bare: idle,
    ours: busy,
    met: busy.p99 <= 2 * idle.p99,
    note: `idle ${idle.p99} ms, during sign-ins ${busy.p99} ms`,
  };
}
