import { setTimeout as sleep } from 'node:timers/promises';
import { atShare, load, type Target } from './load.ts';
import { dataOf, type Row, type Stage } from './stage.ts';

const rounds = 100;
const mostMs = 100;

type Data = Record<string, string>;

/**
 * How long a second process still answers VALID after staff were told by the first that the license is revoked, while both
 * answer validations. Includes the call that finds it out.
 */
export async function revocationRow(stage: Stage, second: string, validations: Target): Promise<Row> {
  const { staff } = stage;
  const customer = { name: 'Revoked', country: 'DE' };
  const { customerId } = await dataOf<Data>(`${stage.ours}/api/customers`, staff, customer);
  const { licenseId, licenseKey } = await dataOf<Data>(`${stage.ours}/api/v1/licenses`, staff, {
    customerId,
    type: 'enterprise',
    validFrom: '2020-01-01T00:00:00Z',
    validUntil: '2099-01-01T00:00:00Z',
    maxActivations: 1,
    moduleIds: ['mod_copd'],
  });
  const asked = { licenseKey, machineId: 'bench' };
  const key = { 'x-api-key': stage.apiKey };
  const code = async () => (await dataOf<Data>(`${second}/api/licenses/validate`, key, asked)).code;
  const set = (state: string, method: 'POST' | 'PATCH') =>
    dataOf(`${stage.ours}/api/v1/licenses/${licenseId}/${state}`, staff, {}, method);

  const onBoth = [stage.ours, second].map((origin) => ({
    ...validations,
    url: validations.url.replace(stage.ours, origin),
    connections: 8,
  }));
  const control = { isDone: false };
  const loading = onBoth.map(async (target) => {
    while (!control.isDone) await load(target, 1);
  });
  const delays: number[] = [];
  try {
    for (let round = 0; round < rounds; round++) {
      while ((await code()) !== 'VALID') await sleep(5);
      await set('revoke', 'PATCH');
      const from = performance.now();
      while ((await code()) === 'VALID');
      delays.push(performance.now() - from);
      await set('reactivate', 'POST');
    }
  } finally {
    control.isDone = true;
    await Promise.all(loading);
  }
  const [p50, p99] = [atShare(delays, 0.5), atShare(delays, 0.99)];
  return {
    job: 'revocation seen by another process, under load',
    target: `p99 ≤ ${mostMs} ms`,
    met: p99 <= mostMs,
    note: `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms of ${rounds}`,
  };
}
