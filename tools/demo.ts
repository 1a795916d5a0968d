import path from 'node:path';
import { parseArgs } from 'node:util';
import { createBudgets } from '../server/budgets.ts';
import { CannotStart } from '../server/cannot-start.ts';
import { readConfig, type Config } from '../server/config.ts';
import { createWriteBehind } from '../server/db/write-behind.ts';
import { createDb, createPool } from '../server/db/client.ts';
import { createFacts } from '../server/db/facts.ts';
import { openJournal } from '../server/db/journal.ts';
import { migrate } from '../server/db/migrate.ts';
import { startSignals } from '../server/db/signals.ts';
import { withClient } from '../server/db/with-client.ts';
import { auditKeys, beginChain, entryWriter } from '../server/features/audit/index.ts';
import { openKeys, requireKeys } from '../server/features/keys/index.ts';
import { createModuleNames } from '../server/features/modules/index.ts';
import { createUpdateRecorder } from '../server/features/update-events/index.ts';
import { seedRoles } from '../server/features/users/index.ts';
import { createValidationRecorder } from '../server/features/validation/validation-recorder.ts';
import { createSeatFinder } from '../server/features/validation/find.ts';
import { createLog } from '../server/log.ts';
import { createPasswords } from '../server/passwords.ts';
import { makeCustomers, makeStaff } from './demo/company.ts';
import { makeKeys } from './demo/keys.ts';
import { days } from './demo/calendar.ts';
import { staff, staffEmail } from './demo/names.ts';
import { makePolicies } from './demo/policies.ts';
import { makeApproval, makePausedRollout } from './demo/rollouts.ts';
import { makeUpdates } from './demo/updates.ts';
import { createRandom } from './demo/random.ts';
import { runCommand, say } from './command-line.ts';
import { startDatabase } from './database.ts';

const password = 'lanyard-demo';

/** `npm run demo -- --customers 50 --machines 1000 --seed 1`: fills an empty database with demo data. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      machines: { type: 'string', default: '0' },
      customers: { type: 'string', default: '50' },
      seed: { type: 'string', default: '1' },
    },
  });
  for (const [name, value] of Object.entries(values))
    if (!/^\d{1,9}$/.test(value)) throw new CannotStart(`--${name}: Must be a whole number`);
  const config = readConfig(process.env);
  const database = await startDatabase(config, { exclusive: false, log: say });
  try {
    await fill(config, database.url, values);
  } finally {
    await database.stop();
  }
}

async function fill(
  config: Config,
  databaseUrl: string,
  values: Record<'machines' | 'customers' | 'seed', string>,
): Promise<void> {
  const log = createLog('warn');
  await requireKeys(databaseUrl, config, new Date());
  await requireNoCustomers(databaseUrl);
  await migrate(databaseUrl);
  const pool = createPool(databaseUrl);
  const db = createDb(pool);
  const keys = await openKeys(db, config, new Date());
  const chainKeys = auditKeys(keys.signer);
  const writeEntry = entryWriter(chainKeys);
  const signals = await startSignals({ queries: databaseUrl, direct: databaseUrl }, log);
  const passwords = createPasswords();
  try {
    await db.transaction().execute(seedRoles);
    await beginChain({ db, signals, writeEntry }, chainKeys, [], new Date());
    const journal = openJournal(path.join(config.dataDir, 'journal'), config.journalMaxBytes);
    const behind = createWriteBehind({ db, writeEntry, log, journal });
    const now = new Date();
    const clock = () => now;
    const recorder = createValidationRecorder({ db, writeEntry, log, clock }, behind);
    const validator = {
      db,
      signals,
      writeEntry,
      config,
      seats: createSeatFinder(pool, createFacts(signals, config.cacheBytes)),
      recorder,
      keys,
      moduleNames: createModuleNames({ db, signals }),
    };
    const random = createRandom(Number(values.seed));
    const passwordHash = await passwords.hash(password);
    const budgets = createBudgets({ db, signals, writeEntry }, clock);
    const stage = { db, signals, writeEntry, validator, budgets, random, now, passwordHash };
    const people = await makeStaff(stage);
    const { apiKey, desktop } = await makeKeys({ ...stage, behind }, people[0]!);
    const licensing = people.slice(0, 4);
    const customers = Number(values.customers);
    const { inUse, ...made } = await makeCustomers(stage, licensing, desktop, customers);
    const updateRecorder = createUpdateRecorder({ ...stage, log, config, clock }, budgets, behind);
    while (inUse.length < Number(values.machines)) {
      const since = stage.now.getTime() - random.next() * days(400);
      inUse.push({ machineId: random.hex(32), platform: random.chance(0.2) ? 'darwin' : 'win32', since });
    }
    const updates = { ...stage, recorder: updateRecorder };
    Object.assign(made, { machines: inUse.length }, await makeUpdates(updates, people[4]!, inUse));
    await makePausedRollout(updates, people[4]!, inUse);
    await makeApproval({ ...stage, ...updates }, people[4]!, people[1]!);
    Object.assign(made, await makePolicies(stage, people[4]!));
    await behind.stop();
    await budgets.stop();
    say(
      `Created ${Object.entries(made)
        .map(([what, n]) => `${n} ${what}`)
        .join(', ')}.`,
    );
    say(`Sign in with the password ${password} as one of:`);
    for (const { name, role } of staff) say(`  ${staffEmail(name).padEnd(36)} ${role}`);
    say(`API key for desktops: ${apiKey}`);
  } finally {
    await passwords.stop();
    await signals.stop();
    await pool.end();
  }
}

/** Before anything is migrated: the service may still run the version before. */
const requireNoCustomers = (databaseUrl: string): Promise<void> =>
  withClient(databaseUrl, async (client) => {
    const { rows } = await client.query(`select where to_regclass('public.customers') is not null`);
    if (rows.length > 0 && (await client.query('select from customers limit 1')).rowCount)
      throw new CannotStart('The database already has customers. The demo data needs an empty database.');
  });

runCommand(main);
