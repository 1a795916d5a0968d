import type { License } from '../../contract/licenses.ts';
import { roleMatrix } from '../../contract/permissions.ts';
import type { ValidationCode } from '../../contract/validation.ts';
import { systemCaller, type Caller } from '../../server/caller.ts';
import type { Db } from '../../server/db/client.ts';
import { isFailure, type Failure } from '../../server/failure.ts';
import { deactivateMachine, listActivations } from '../../server/features/activations/activations.ts';
import { createApiKey } from '../../server/features/api-keys/api-keys.ts';
import { createCustomer, softDeleteCustomer } from '../../server/features/customers/customers.ts';
import { createLicense, revokeLicense } from '../../server/features/licenses/licenses.ts';
import { listModules } from '../../server/features/modules/modules.ts';
import { insertUser } from '../../server/features/users/users.ts';
import { validate, type Validator } from '../../server/features/validation/validation.ts';
import type { DemoMachine } from './updates.ts';
import { makeCustomer, staff, staffEmail } from './names.ts';
import type { Random } from './random.ts';

const dayMs = 86_400_000;
const days = (n: number) => n * dayMs;

export type Company = {
  customers: number;
  licenses: number;
  machines: number;
  validations: number;
  apiKey: string;
  /** What updates are reported for, and who publishes them. */
  inUse: DemoMachine[];
  publisher: Caller;
};
type Stage = { db: Db; validator: Validator; random: Random; now: Date; passwordHash: string };
type Desktop = Caller & { actor: { kind: 'apiKey' } };

/** Demo data is made by the functions of real use: an outcome that they refuse is a mistake of the demo. */
async function done<T>(result: Promise<T | Failure>): Promise<T> {
  const value = await result;
  if (isFailure(value)) throw new Error(value.message);
  return value;
}

/**
 * Fills an empty database with a company that a person would believe: staff in every role, customers in many
 * countries, licenses in every state, machines with months of validations, and the audit trail of it all.
 */
export async function makeCompany(stage: Stage, customerCount: number): Promise<Company> {
  const { db, random, now } = stage;
  const people = await makeStaff(stage);
  const opened = new Date(now.getTime() - days(500));
  const key = {
    name: 'Desktop app',
    expiresAt: new Date(now.getTime() + days(365)).toISOString(),
    rateLimit: 100_000,
    scopes: ['validate' as const, 'updates' as const],
  };
  const made = await done(db.transaction().execute((tx) => createApiKey(tx, at(people[0]!, opened), key)));
  const desktop = desktopOf(made);
  const modules = (await listModules(db)).map((m) => m.moduleId);
  const company: Company = {
    customers: 0,
    licenses: 0,
    machines: 0,
    validations: 0,
    apiKey: made.key,
    inUse: [],
    publisher: people[4]!,
  };
  const taken = new Set<string>();
  for (let n = 0; n < customerCount; n++) {
    const joined = new Date(now.getTime() - days(random.whole(40, 480)) + random.whole(0, dayMs));
    const by = random.pick(people.slice(0, 4));
    const input = makeCustomer(random, taken);
    const customer = await db.transaction().execute((tx) => createCustomer(tx, at(by, joined), input));
    company.customers += 1;
    for (let i = random.whole(1, 5); i > 0; i--) {
      const license = await makeLicense(stage, at(by, joined), customer.customerId, modules);
      company.licenses += 1;
      await runLicense(stage, at(by, joined), desktop, license, company);
    }
    if (random.chance(0.05)) {
      const left = new Date(now.getTime() - days(random.whole(1, 25)));
      await done(db.transaction().execute((tx) => softDeleteCustomer(tx, at(by, left), customer.customerId)));
    }
  }
  return company;
}

async function makeStaff({ db, now, passwordHash }: Stage): Promise<Caller[]> {
  const hired = systemCaller(new Date(now.getTime() - days(510)));
  const made: Caller[] = [];
  for (const { name, role } of staff) {
    const email = staffEmail(name);
    const { id: userId } = await db
      .transaction()
      .execute((tx) => insertUser(tx, hired, { email, name, passwordHash, role }));
    made.push({
      actor: {
        kind: 'staff',
        userId,
        sessionId: userId,
        via: 'cookie',
        email,
        name,
        roles: [role],
        permissions: [...roleMatrix[role]],
        secondFactorMissing: false,
      },
      now,
      ip: '192.0.2.10',
      userAgent: 'Lanyard demo',
      requestId: '',
      endpoint: 'demo',
    });
  }
  return made;
}

const at = (by: Caller, now: Date): Caller => ({ ...by, now });

function desktopOf({ id, name }: { id: string; name: string }): Desktop {
  return {
    actor: { kind: 'apiKey', apiKeyId: id, name, scopes: ['validate'] },
    now: new Date(0),
    ip: '198.51.100.7',
    userAgent: 'Lanyard desktop',
    requestId: '',
    endpoint: 'POST /api/licenses/validate',
  };
}

function makeLicense(
  { db, random, now }: Stage,
  by: Caller,
  customerId: string,
  modules: string[],
): Promise<License> {
  const trial = random.chance(0.25);
  // A third of the licenses were renewed and run on; the others end around today, so that some expire soon.
  const until = trial
    ? by.now.getTime() + days(30)
    : now.getTime() + days(random.whole(-60, random.chance(0.33) ? 700 : 120));
  const validUntil = new Date(Math.max(until, by.now.getTime() + days(14)));
  const input = {
    customerId,
    type: trial ? ('trial' as const) : ('enterprise' as const),
    validFrom: startOfDay(by.now),
    validUntil: startOfDay(validUntil),
    maxActivations: trial ? random.whole(1, 3) : random.whole(2, 25),
    moduleIds: random.some(modules, random.whole(1, 5)),
  };
  return done(db.transaction().execute((tx) => createLicense(tx, by, input)));
}

const startOfDay = (date: Date) => `${date.toISOString().slice(0, 10)}T00:00:00.000Z`;

/** Machines take seats, validate on working days, are moved by staff; some licenses are revoked in the end. */
async function runLicense(
  stage: Stage,
  by: Caller,
  desktop: Desktop,
  license: License,
  company: Company,
): Promise<void> {
  const { db, validator, random, now } = stage;
  const ends = Math.min(now.getTime(), Date.parse(license.validUntil));
  const share = random.pick([0.3, 0.6, 0.8, 0.9, 1, 1]);
  const machines = Math.max(1, Math.round(license.maxActivations * share));
  for (let m = 0; m < machines; m++) {
    const first = Math.min(by.now.getTime() + days(random.whole(0, 20)) + days(0.3), ends - 1000);
    const request = machineOf(random, license.licenseKey, m);
    const { activation } = await validate(validator, at(desktop, new Date(first)), request);
    company.machines += 1;
    company.inUse.push({ machineId: request.machineId, platform: request.platform });
    for (
      let day = Math.max(first, now.getTime() - days(90));
      activation && day < ends;
      day += days(random.pick([1, 1, 1, 3]))
    ) {
      const seen = new Date(Math.min(day + random.whole(0, days(0.4)), now.getTime() - 1000));
      record(stage, license, desktop, activation.activationId, request, seen);
      company.validations += 1;
    }
  }
  if (random.chance(0.15)) await moveMachine(stage, by, license);
  if (random.chance(0.08)) {
    const when = new Date(now.getTime() - days(random.whole(1, 30)));
    await done(db.transaction().execute((tx) => revokeLicense(tx, at(by, when), license.licenseId)));
  }
}

function machineOf(random: Random, licenseKey: string, m: number) {
  const mac = random.chance(0.2);
  return {
    licenseKey,
    machineId: `${random.hex(8)}-${random.hex(4)}-${random.hex(4)}-${random.hex(12)}`,
    hostname: `${random.pick(['RAD', 'PATH', 'ONC', 'LAB', 'MRI'])}-WS-${String(m + 1).padStart(2, '0')}`,
    platform: mac ? ('darwin' as const) : ('win32' as const),
    architecture: mac ? 'arm64' : 'x64',
    osVersion: mac ? '15.1' : '10.0.22631',
    appVersion: random.pick(['4.1.3', '4.2.0', '4.2.0', '4.2.1']),
  };
}

/** A later validation of a machine that holds a seat: what recording it would have written then. */
function record(
  { validator, random }: Stage,
  license: License,
  { actor }: Desktop,
  activationId: string,
  request: ReturnType<typeof machineOf>,
  seen: Date,
): void {
  const code: ValidationCode = random.chance(0.01) ? 'TOO_MANY_ACTIVATIONS' : 'VALID';
  validator.recorder.add({
    at: seen,
    code,
    durationUs: random.whole(900, 4_000) + (random.chance(0.02) ? random.whole(5_000, 40_000) : 0),
    licenseId: license.licenseId,
    customerId: license.customerId,
    activationId,
    apiKeyId: actor.apiKeyId,
    request,
  });
}

async function moveMachine({ db, validator, now }: Stage, by: Caller, license: License): Promise<void> {
  await validator.recorder.flush();
  const [machine] = await done(listActivations(db, license.licenseKey));
  if (machine?.status !== 'active') return;
  const when = new Date(now.getTime() - days(2));
  await done(
    db
      .transaction()
      .execute((tx) => deactivateMachine(tx, at(by, when), machine.activationId, machine.machineId)),
  );
}
