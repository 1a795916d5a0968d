import { cpus } from 'node:os';
import { validations } from './licensing.ts';
import { alternate, load } from './load.ts';
import { ratioRow, type Row, type Stage } from './stage.ts';

/**
 * Compares validations by the two workers at `url` with those by one process, measured in turn. The load generator and
 * PostgreSQL run on the same cores, so the note says how much of them was idle.
 */
export async function workersRow(stage: Stage, url: string): Promise<Row> {
  const one = validations(stage).byApiKey;
  const two = validations({ ...stage, ours: url }).byApiKey;
  const [bare, ours] = await alternate([one, two], stage.seconds);
  const before = idleMs();
  await load(one, stage.seconds);
  const left = (idleMs() - before) / (stage.seconds * 10);
  const row = ratioRow('validate with two workers, to one process', 1.7, { bare: bare!, ours: ours! });
  return { ...row, note: `one process leaves ${left.toFixed(0)} % of a core idle of ${cpus().length}` };
}

const idleMs = (): number => cpus().reduce((sum, { times }) => sum + times.idle, 0);
