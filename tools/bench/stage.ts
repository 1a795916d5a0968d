import type { ChildProcess } from 'node:child_process';
import type { Sample } from './dataset.ts';
import { atShare, load, type Measured, type Target } from './load.ts';

/** The servers and the data of a run. */
export type Stage = {
  bare: string;
  ours: string;
  /** Of the database of `ours`, for the role that serves requests. */
  databaseUrl: string;
  /** The headers of a user who is signed in. */
  staff: { authorization: string };
  apiKey: string;
  admin: { email: string; password: string };
  /** The server under test. */
  process: ChildProcess;
  folder: string;
  sample: Sample;
  seconds: number;
};

/** A row of the table of results. */
export type Row = {
  job: string;
  target: string;
  bare?: Measured;
  /** Absent if the result is in `note`. */
  ours?: Measured;
  met: boolean;
  note?: string;
};

/** The `data` of a JSON answer; a body is posted unless another method is given. Throws if the answer is an error. */
export async function dataOf<T>(
  url: string,
  headers: Record<string, string>,
  body?: unknown,
  method = body === undefined ? 'GET' : 'POST',
): Promise<T> {
  const answer = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as { data: T }).data;
}

/** Our rate must be at least this part of that of the bare server, within `p99` milliseconds. */
export const ratioRow = (
  job: string,
  atLeast: number,
  measured: { bare: Measured; ours: Measured },
  p99 = Infinity,
): Row => ({
  job,
  target: `${100 * atLeast} %${p99 === Infinity ? '' : `, p99 ≤ ${p99} ms`}`,
  ...measured,
  met: measured.ours.perSecond >= atLeast * measured.bare.perSecond && measured.ours.p99 <= p99,
});

/** The median of one caller must be below `maxMs`. */
export async function readingRow(job: string, maxMs: number, target: Target): Promise<Row> {
  const ours = await load({ ...target, connections: 1 }, 4);
  return { job, target: `p50 < ${maxMs} ms`, ours, met: ours.p50 < maxMs };
}

export const limitRow = (job: string, most: number, amount: number, unit: string): Row => ({
  job,
  target: `≤ ${most} ${unit}`,
  met: amount <= most,
  note: `${amount.toFixed(1)} ${unit}`,
});

const rounds = 15;

/** The median of the milliseconds that `run` returns must be below `maxMs`. */
export async function screenRow(job: string, maxMs: number, run: () => Promise<number>): Promise<Row> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) times.push(await run());
  const [median, worst] = [atShare(times, 0.5), Math.max(...times)];
  const note = `median ${median.toFixed(0)} ms, worst ${worst.toFixed(0)} ms of ${rounds}`;
  return { job, target: `< ${maxMs} ms`, met: median < maxMs, note };
}
