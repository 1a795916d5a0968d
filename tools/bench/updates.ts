import { createHash } from 'node:crypto';
import { noPolicy, weekdays, type UpdatePolicy } from '../../contract/policies.ts';
import { compare, type Target } from './load.ts';
import { dataOf, ratioRow, readingRow, type Row, type Stage } from './stage.ts';
import { updateSizes, watchedRelease } from './updates-dataset.ts';

/** Update checks by the machines of the data, and by those of the sample with an API key or their tokens. */
export function updateChecks({ ours, sample, apiKey }: Stage, scale: number) {
  const machines = Math.round(updateSizes.machines * scale);
  const pick = (n: number) => sample[n % sample.length]!;
  const feed = '/api/v1/updates/electron/win32/x64/latest.yml?currentVersion=4.1.0&noCache=';
  const headers = { 'x-api-key': apiKey };
  const byMachineId: Target = {
    url: ours,
    headers,
    next: (n) => ({ path: `${feed}${n}&machineId=bench-${1 + ((n * 7919) % machines)}` }),
  };
  // its header is built for each request as well, so that the client does the same work for both
  const byApiKey: Target = {
    url: ours,
    next: (n) => ({ path: `${feed}${n}&machineId=${pick(n).machineId}`, headers }),
  };
  const byMachineToken: Target = {
    url: ours,
    next: (n) => ({ path: `${feed}${n}`, headers: { 'x-machine-token': pick(n).token } }),
  };
  return { byMachineId, byApiKey, byMachineToken };
}

/** The jobs of updates: the feed, compared with reading one row by key, and the lists of the console. */
export async function benchUpdates(stage: Stage, scale: number): Promise<Row[]> {
  const { bare, ours, staff, sample } = stage;
  const checks = updateChecks(stage, scale);
  const row: Target = {
    url: bare,
    next: (n) => ({ path: `/row?key=${sample[n % sample.length]!.licenseKey}` }),
  };
  const compareChecks = () => compare(row, checks.byMachineId, stage.seconds);
  const check = await compareChecks();
  const checkByToken = await compare(checks.byApiKey, checks.byMachineToken, stage.seconds);
  await setPolicy(stage, { deferDays: 7, windows: [alwaysOpen] });
  const checkWithPolicy = await compareChecks();
  await setPolicy(stage, {});
  const reading = (job: string, path: string) =>
    readingRow(job, 50, { url: `${ours}/api/v1/updates/admin/${path}`, headers: staff });
  return [
    ratioRow('update check with machine, decision, event', 0.4, check),
    ratioRow('update check with the policies of customers', 0.4, checkWithPolicy),
    ratioRow('update check by machine token, to API key', 0.95, checkByToken),
    await reading('release list', 'releases?showInactive=false'),
    await reading('release page at 100,000 machines', `releases/${await watchedRelease(stage)}/progress`),
    await reading('analytics tab', 'analytics'),
    await reading('machine page', `machines/${displayHash(1)}`),
  ];
}

const alwaysOpen = { zone: 'Europe/Berlin', weekdays: [...weekdays], from: '00:00', to: '00:00' };

/** Sets the policy of the tag that every customer of the data has. */
async function setPolicy({ ours, staff }: Stage, policy: Partial<UpdatePolicy>): Promise<void> {
  await dataOf(`${ours}/api/update-policies/tags/bench`, staff, { ...noPolicy, ...policy }, 'PUT');
}

const displayHash = (n: number) => createHash('sha256').update(`bench-${n}`).digest('hex');
