import { createHash } from 'node:crypto';
import type { Row, Stage } from './licensing.ts';
import { compare, load, type Target } from './load.ts';
import { updateSizes } from './updates-dataset.ts';

/** The jobs of updates: the feed, compared with reading one row by key, and the lists of the console. */
export async function benchUpdates(stage: Stage, scale: number): Promise<Row[]> {
  const { bare, ours, sample } = stage;
  const staff = { authorization: `Bearer ${stage.bearer}` };
  const machines = Math.round(updateSizes.machines * scale);
  const check = await compare(
    { url: bare, next: (n) => ({ path: `/row?key=${sample[n % sample.length]!.licenseKey}` }) },
    {
      url: ours,
      headers: { 'x-api-key': stage.apiKey },
      next: (n) => ({
        path: `/api/v1/updates/electron/win32/x64/latest.yml?noCache=${n}&machineId=bench-${1 + ((n * 7919) % machines)}&currentVersion=4.1.0`,
      }),
    },
    stage.seconds,
  );
  const ratio = check.ours.perSecond / check.bare.perSecond;
  return [
    { job: 'update check with machine, decision, event', target: '40 %', ...check, met: ratio >= 0.4 },
    await reading('release list', `${ours}/api/v1/updates/admin/releases?showInactive=false`, staff),
    await reading('analytics tab', `${ours}/api/v1/updates/admin/analytics`, staff),
    await reading('machine page', `${ours}/api/v1/updates/admin/machines/${displayHash(1)}`, staff),
  ];
}

const displayHash = (n: number) => createHash('sha256').update(`bench-${n}`).digest('hex');

async function reading(job: string, url: string, headers: Record<string, string>): Promise<Row> {
  const target: Target = { url, headers, connections: 1 };
  const measured = await load(target, 4);
  return { job, target: 'p50 < 50 ms', ours: measured, met: measured.p50 < 50 };
}
