import { utcDay } from '../../contract/durations.ts';
import { midnightOf } from '../../contract/license-term.ts';
import type { License } from '../../contract/licenses.ts';
import { roleMatrix } from '../../contract/permissions.ts';
import type { Caller } from '../../server/caller.ts';
import { systemChange } from '../../server/change.ts';
import { createCustomer, softDeleteCustomer } from '../../server/features/customers/index.ts';
import { createLicense } from '../../server/features/licenses/index.ts';
import { listModules } from '../../server/features/modules/index.ts';
import { insertUser } from '../../server/features/users/index.ts';
import { days, workingMoment } from './calendar.ts';
import { at, made, type Stage } from './stage.ts';
import { runLicense, type Company, type Desktop } from './license-life.ts';
import { makeCustomer, staff, staffEmail } from './names.ts';

/** Creates the staff of the vendor and returns them as callers, in the order of `staff`. */
export async function makeStaff(stage: Stage): Promise<Caller[]> {
  const { now, passwordHash } = stage;
  const hired = new Date(now.getTime() - days(510));
  const staffMade: Caller[] = [];
  for (const { name, role } of staff) {
    const email = staffEmail(name);
    const { id: userId } = await systemChange(stage, hired, (change) =>
      insertUser(change, { email, name, passwordHash, role }),
    );
    staffMade.push({
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
        ownPasswordMissing: false,
        advice: [],
        firstScreen: null,
      },
      now,
      ip: '192.0.2.10',
      userAgent: 'Lanyard demo',
      requestId: '',
      endpoint: 'demo',
    });
  }
  return staffMade;
}

/**
 * Fills an empty database with customers in many countries, licenses in every state, and machines with a year of
 * validations, each created by staff with the permission.
 */
export async function makeCustomers(
  stage: Stage,
  people: Caller[],
  desktop: Desktop,
  count: number,
): Promise<Company> {
  const { db, random, now } = stage;
  const modules = (await listModules(db)).map((m) => m.moduleId);
  const company: Company = {
    customers: 0,
    licenses: 0,
    machines: 0,
    validations: 0,
    proven: 0,
    cloned: 0,
    offline: 0,
    inUse: [],
  };
  const taken = new Set<string>();
  for (let n = 0; n < count; n++) {
    const joined = now.getTime() - days(random.whole(20, 480));
    const signed = workingMoment(random, joined, joined + days(7));
    const input = makeCustomer(random, taken);
    const by = () => random.pick(people);
    const customer = await made(stage, at(by(), signed), (change) => createCustomer(change, input));
    company.customers += 1;
    // every twentieth customer left, including the second of all, so that the trash is never empty
    const left = n % 20 === 1 ? workingMoment(random, now.getTime() - days(28), now.getTime()) : undefined;
    for (let i = random.whole(1, 5); i > 0; i--) {
      const issued = workingMoment(
        random,
        signed,
        Math.min(signed + days(60), (left ?? now.getTime()) - days(1)),
      );
      const license = await makeLicense(stage, at(by(), issued), customer.customerId, modules);
      company.licenses += 1;
      await runLicense({ ...stage, desktop, company, by }, { license, issued, left });
    }
    if (left) await made(stage, at(by(), left), (change) => softDeleteCustomer(change, customer.customerId));
  }
  return company;
}

function makeLicense(stage: Stage, by: Caller, customerId: string, modules: string[]): Promise<License> {
  const { random, now } = stage;
  const trial = random.chance(0.2);
  const year = days(365);
  // Most licenses are renewed every year; others end in the months before and after today.
  const renewed = by.now.getTime() + year * Math.ceil((now.getTime() - by.now.getTime()) / year + 0.02);
  const until = trial
    ? by.now.getTime() + days(30)
    : random.chance(0.7)
      ? renewed
      : now.getTime() + days(random.whole(-300, 45));
  const input = {
    customerId,
    type: trial ? ('trial' as const) : ('enterprise' as const),
    validFrom: startOfDay(by.now.getTime()),
    validUntil: startOfDay(Math.max(until, by.now.getTime() + days(14))),
    maxActivations: trial ? random.whole(1, 3) : random.whole(2, 25),
    moduleIds: random.some(modules, random.whole(1, 5)),
  };
  return made(stage, by, (change) => createLicense(change, input));
}

const startOfDay = (moment: number) => midnightOf(utcDay(new Date(moment)));
