import { setTimeout as sleep } from 'node:timers/promises';
import { atShare, load, type Target } from './load.ts';
import type { Row, Stage } from './stage.ts';

const rounds = 100;
const mostMs = 100;

/**
 * How long a second process still answers VALID after staff were told by the first that the license is revoked, while both
 * answer validations. Includes the call that finds it out.
 */
export async function revocationRow(stage: Stage, second: string, validations: Target): Promise<Row> {
  const { staff } = stage;
  type Method = 'POST' | 'PATCH';
  const post = async (url: string, body: object, headers: object, method: Method = 'POST') => {
    const answer = await fetch(url, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${url}: ${await answer.text()}`);
    return ((await answer.json()) as { data: Record<string, string> }).data;
  };
  const { customerId } = await post(`${stage.ours}/api/customers`, { name: 'Revoked', country: 'DE' }, staff);
  const { licenseId, licenseKey } = await post(
    `${stage.ours}/api/v1/licenses`,
    {
      customerId,
      type: 'enterprise',
      validFrom: '2020-01-01T00:00:00Z',
      validUntil: '2099-01-01T00:00:00Z',
      maxActivations: 1,
      moduleIds: ['mod_copd'],
    },
    staff,
  );
  const code = async () =>
    (
      await post(
        `${second}/api/licenses/validate`,
        { licenseKey, machineId: 'bench' },
        { 'x-api-key': stage.apiKey },
      )
    ).code;
  const set = (state: string, method: Method) =>
    post(`${stage.ours}/api/v1/licenses/${licenseId}/${state}`, {}, staff, method);

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
