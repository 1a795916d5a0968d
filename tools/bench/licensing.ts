import { compare, load, type Target } from './load.ts';
import { ratioRow, readingRow, type Row, type Stage } from './stage.ts';

const terms =
  'karolinska inst, zur, lung nodule, osaka, CLINIC 12, december 24, mod_copd, hospital 4, groote lab'.split(
    ', ',
  );

/** The nth text that users search for, encoded: words that many licenses contain. */
export const searches = (n: number): string => encodeURIComponent(terms[n % terms.length]!);

/** Validations of machines that hold a seat. */
export function validations({ ours, sample, apiKey }: Stage): Record<'byApiKey' | 'byMachineToken', Target> {
  const pick = (n: number) => sample[n % sample.length]!;
  const body = (n: number) => {
    const { licenseKey, machineId } = pick(n);
    return { licenseKey, machineId, nonce: String(n), appVersion: '4.2.0' };
  };
  const validate = { url: `${ours}/api/licenses/validate`, method: 'POST' } as const;
  return {
    // its header is built for each request as well, so that the client does the same work for both
    byApiKey: { ...validate, next: (n) => ({ body: body(n), headers: { 'x-api-key': apiKey } }) },
    byMachineToken: {
      ...validate,
      next: (n) => ({ body: body(n), headers: { 'x-machine-token': pick(n).token } }),
    },
  };
}

/** The jobs of licensing, each compared with the bare server. */
export async function benchLicensing(stage: Stage): Promise<Row[]> {
  const { bare, ours, staff, sample } = stage;
  const pick = (n: number) => sample[n % sample.length]!;
  const row: Target = { url: bare, next: (n) => ({ path: `/row?key=${pick(n).licenseKey}` }) };

  const ratioJob = async (job: string, atLeast: number, a: Target, b: Target, p99?: number): Promise<Row> =>
    ratioRow(job, atLeast, await compare(a, b, stage.seconds), p99);
  const list: Target = { url: `${ours}/api/v1/licenses?tab=active&limit=50`, headers: staff };
  const signingIn: Target = {
    url: `${ours}/api/v1/auth/login`,
    method: 'POST',
    next: () => ({ body: stage.admin }),
  };

  const { byApiKey, byMachineToken } = validations(stage);

  return [
    await ratioJob('validate, known machine, API key', 0.4, row, byApiKey, 15),
    await ratioJob('validate by machine token, to API key', 0.95, byApiKey, byMachineToken, 15),
    await ratioJob('list 50 of 100,000 with counts', 0.5, { url: `${bare}/rows` }, list),
    await readingRow('substring search, first page, one user', 20, {
      url: ours,
      headers: staff,
      next: (n) => ({
        path: `/api/v1/licenses?tab=active&limit=50&search=${searches(n)}`,
      }),
    }),
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
      signingIn,
    ),
    await readsUnderLogins(list, signingIn),
  ];
}

/** The p99 of reads during many sign-ins may be at most twice the p99 without them. */
async function readsUnderLogins(target: Target, signingIn: Target): Promise<Row> {
  const reads = { ...target, connections: 4 };
  const idle = await load(reads, 5);
  const [busy] = await Promise.all([load(reads, 5), load(signingIn, 6)]);
  return {
    job: 'reads during many sign-ins (p99)',
    target: 'at most 2 × idle',
    bare: idle,
    ours: busy,
    met: busy.p99 <= 2 * idle.p99,
    note: `idle ${idle.p99} ms, during sign-ins ${busy.p99} ms`,
  };
}
