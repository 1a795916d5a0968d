import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, days } from '../../tests/harness.ts';
import { counted, longestGap, startLoad } from '../../tests/load.ts';
import { freePort, newDataDir, startServer } from '../../tests/server-process.ts';
import { addResult } from './table.ts';
import { ask, lostCustomers, prepareWork } from '../../tests/work.ts';

const jumps = [days(500), -days(30), days(2500), 0];
const jumpMs = 8000;

/** A module that shifts the clock of a process by the milliseconds in a file, which it reads ten times a second. */
const shiftedClock = (file: string) => `
  import { readFileSync } from 'node:fs';
  const RealDate = Date;
  let shift = 0;
  const read = () => { try { shift = Number(readFileSync(${JSON.stringify(file)}, 'utf8')); } catch {} };
  read();
  setInterval(read, 100).unref();
  globalThis.Date = class Date extends RealDate {
    constructor(...given) { if (given.length) super(...given); else super(RealDate.now() + shift); }
    static now() { return RealDate.now() + shift; }
  };
`;

/** The clock of the server jumps by years, under load and across restarts: validations continue and nothing is deleted. */
export async function clockJumps(): Promise<void> {
  const database = await createTestDatabase({ empty: true });
  const dataDir = await newDataDir();
  const [file, preload] = [join(dataDir, 'shift'), join(dataDir, 'clock.mjs')];
  await writeFile(preload, shiftedClock(file));
  const settings = {
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    LOG_LEVEL: 'error',
    PORT: String(await freePort()),
    NODE_OPTIONS: `--import file://${preload}`,
  };
  let server = await startServer(settings);
  const work = await prepareWork(server);
  const before = startLoad(work.calls);
  await sleep(jumpMs);
  await before.stop();
  const counts = () =>
    ask<{ validations: number; entries: number }>(
      database.url,
      `select (select count(*)::int from validations) as validations,
              (select count(*)::int from audit_entries) as entries`,
    );
  const seen = [...before.seen];
  const deleted: string[] = [];
  // only validations: sessions expire with the clock, as they should
  const machine = Object.fromEntries(Object.entries(work.calls).filter(([name]) => name === 'known machine'));
  let gapMs = longestGap(before.seen);
  for (const jump of jumps) {
    const load = startLoad(machine);
    load.phase(`the clock jumped by ${jump / days(1)} days`);
    const [earlier] = await counts();
    await writeFile(file, String(jump));
    await sleep(jumpMs);
    await load.stop();
    // jobs run immediately after a start
    await server.end('SIGTERM');
    server = await startServer(settings);
    await sleep(1000);
    const [later] = await counts();
    for (const kind of ['validations', 'entries'] as const)
      for (let missing = earlier![kind] - later![kind]; missing > 0; missing--) deleted.push(kind);
    seen.push(...load.seen);
    gapMs = Math.max(gapMs, longestGap(load.seen));
  }
  const lost = [...deleted, ...(await lostCustomers(database.url, work.made))];
  const figures = counted(seen);
  const description = `the clock jumps by ${jumps.map((jump) => jump / days(1)).join(', ')} days from the true time, with a restart after each; lost counts records that jobs delete`;
  addResult({ scenario: 'clock jumps', description, ...figures, gapMs, lost });
  assert.deepEqual([figures.failed, figures.refused, lost], [[], 0, []]);
}
