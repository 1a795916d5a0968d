import type { License } from '../../contract/licenses.ts';
import type { ValidationCode } from '../../contract/validation.ts';
import type { Budgets } from '../../server/budgets.ts';
import type { Caller, EnrolledMachine } from '../../server/caller.ts';
import { deactivateMachine, listActivations } from '../../server/features/activations/index.ts';
import { revokeLicense } from '../../server/features/licenses/index.ts';
import { enroll } from '../../server/features/credentials/enroll.ts';
import { issueLicenseFile } from '../../server/features/offline/license-files.ts';
import { machineHashOf } from '../../server/machine-hash.ts';
import { validate } from '../../server/features/validation/index.ts';
import { days, daysInUse, workingMoment } from './calendar.ts';
import { newMachineKey } from './machine-key.ts';
import { at, done, made, type Stage } from './stage.ts';
import type { DemoMachine } from './updates.ts';

export type Desktop = Caller & { actor: { kind: 'apiKey' } };
/** What was made so far. */
export type Company = {
  customers: number;
  licenses: number;
  machines: number;
  validations: number;
  /** Of the machines: those with a token, of these those that run twice, and those with a license file. */
  proven: number;
  cloned: number;
  offline: number;
  /** Machines to report updates for. */
  inUse: DemoMachine[];
};
type Running = Stage & { desktop: Desktop; company: Company; by: () => Caller };
/** Times in milliseconds since 1970; `left`: when its customer was moved to the trash. */
type Issued = { license: License; issued: number; left: number | undefined };
type Machine = ReturnType<typeof machineOf>;
/** When validations of a license stop being VALID, and their code from then on. */
type End = { at: number; code: ValidationCode };

const historyMs = days(365);
/** As many machines run without a network, and run as two. */
const [mostOffline, mostCloned] = [6, 2];

/**
 * The history of a license: machines take seats in its first weeks and validate on most days until it ends; when it is
 * full, others are refused; staff occasionally move a machine or revoke the license.
 */
export async function runLicense(stage: Running, { license, issued, left }: Issued): Promise<void> {
  const { random, now, by } = stage;
  const revoked = random.chance(0.06) ? workingMoment(random, issued + days(15), now.getTime()) : undefined;
  const end = [
    { at: Date.parse(license.validUntil), code: 'EXPIRED' as const },
    { at: revoked ?? Infinity, code: 'REVOKED' as const },
    { at: left ?? Infinity, code: 'CUSTOMER_INACTIVE' as const },
  ].toSorted((a, b) => a.at - b.at)[0]!;
  const share = random.pick([0.3, 0.6, 0.8, 0.9, 1, 1]);
  const count = Math.max(1, Math.round(license.maxActivations * share));
  for (let m = 0; m < count; m++)
    await runMachine(stage, license, issued, end, machineOf(random, license, m));
  if (share === 1 && random.chance(0.4))
    refuse(stage, license, issued, end, machineOf(random, license, count));
  if (random.chance(0.15) && end.at > now.getTime()) await moveMachine(stage, license);
  if (count < license.maxActivations && end.at > now.getTime() && stage.company.offline < mostOffline)
    await runOffline(stage, license, issued, machineOf(random, license, count));
  if (revoked !== undefined && revoked < Date.parse(license.validUntil))
    await made(stage, at(by(), revoked), (change) => revokeLicense(change, license.licenseId));
}

async function runMachine(stage: Running, license: License, issued: number, end: End, machine: Machine) {
  const { random, now, validator, desktop, company, budgets } = stage;
  const stops = Math.min(end.at, now.getTime());
  const first = workingMoment(random, issued, Math.min(issued + days(20), stops - 1));
  const request = { licenseKey: license.licenseKey, ...machine };
  const isProven = random.chance(0.6);
  const { activation } = isProven
    ? await done(
        enroll({ validator, budgets: unlimited(budgets) }, at(desktop, first), {
          ...request,
          publicKey: newMachineKey().key,
        }),
      )
    : await validate(validator, at(desktop, first), request);
  if (!activation) return;
  const { activationId } = activation;
  const { licenseId, licenseKey } = license;
  const { machineId, platform } = machine;
  const actor: EnrolledMachine | undefined = isProven
    ? {
        kind: 'machine',
        activationId,
        licenseId,
        licenseKey,
        customerId: license.customerId,
        isLicensed: true,
        machineId,
        machineHash: machineHashOf(machineId),
        scopes: ['validate', 'updates'],
      }
    : undefined;
  company.machines += 1;
  company.proven += Number(isProven);
  company.inUse.push({ machineId, platform, since: first, actor });
  const from = Math.max(first + days(1), now.getTime() - historyMs);
  let sequence = 0;
  const token = () => (isProven ? { sequence: ++sequence } : undefined);
  for (const seen of daysInUse(random, from, stops))
    record(stage, license, machine, { code: 'VALID', seen, activationId, token: token() });
  if (isProven && end.at > now.getTime() && company.cloned < mostCloned) {
    company.cloned += 1;
    // a copy of the disk in another computer, which counts its calls from the same number
    const copy = { ...machine, hostname: `${machine.hostname}-OLD` };
    for (const [hours, one] of [copy, machine, copy, machine].entries()) {
      const call = {
        seen: now.getTime() - days((5 - hours) / 24),
        token: { sequence: sequence + (hours >> 1) },
      };
      record(stage, license, one, { code: 'VALID', activationId, ...call });
    }
  }
  // a refused program retries for some days
  const gaveUp = Math.min(stops + days(random.whole(1, 12)), now.getTime());
  if (end.at < now.getTime())
    for (const seen of daysInUse(random, Math.max(end.at, from), gaveUp))
      record(stage, license, machine, { code: end.code, seen, activationId, token: token() });
}

/** A machine without a network: staff made its license file from its request, some weeks ago. */
async function runOffline(stage: Running, license: License, issued: number, machine: Machine): Promise<void> {
  const { random, now, by, company, validator } = stage;
  const when = workingMoment(random, Math.max(issued + days(1), now.getTime() - days(60)), now.getTime());
  const request = newMachineKey().request(license.licenseKey, machine, new Date(when));
  await made(stage, at(by(), when), (change) =>
    issueLicenseFile(change, validator, license.licenseId, { request, days: 90 }),
  );
  company.machines += 1;
  company.offline += 1;
}

/** A machine beyond the limit retries for some days, until it gets a seat or stops. */
function refuse(stage: Running, license: License, issued: number, end: End, machine: Machine): void {
  const { random, now } = stage;
  const latest = Math.min(end.at, now.getTime());
  const from = workingMoment(random, Math.max(issued + days(20), now.getTime() - historyMs), latest);
  for (const seen of daysInUse(random, from, Math.min(from + days(random.whole(1, 9)), latest)))
    record(stage, license, machine, { code: 'TOO_MANY_ACTIVATIONS', seen, activationId: null });
}

function machineOf({ hex, pick, chance }: Stage['random'], { licenseId }: License, m: number) {
  const mac = chance(0.2);
  const room = Number.parseInt(licenseId.slice(-2), 16) % 90;
  return {
    machineId: `${hex(8)}-${hex(4)}-${hex(4)}-${hex(12)}`,
    hostname: `${pick(['RAD', 'PATH', 'ONC', 'LAB', 'MRI'])}-WS-${String(room + m + 1).padStart(2, '0')}`,
    platform: mac ? ('darwin' as const) : ('win32' as const),
    architecture: mac ? 'arm64' : 'x64',
    osVersion: mac ? '15.1' : '10.0.22631',
    appVersion: pick(['4.1.3', '4.2.0', '4.2.0', '4.2.1']),
  };
}

/** `token`: by its token, with this number. */
type Called = {
  code: ValidationCode;
  seen: number;
  activationId: string | null;
  token?: { sequence: number } | undefined;
};

/** Writes a later validation of a machine, as recording it then would have. */
function record(
  { validator, random, desktop, company }: Running,
  license: License,
  machine: Machine,
  { code, seen, activationId, token }: Called,
): void {
  validator.recorder.add({
    at: new Date(seen),
    code,
    durationUs: random.whole(900, 4_000) + (random.chance(0.02) ? random.whole(5_000, 40_000) : 0),
    licenseId: license.licenseId,
    customerId: license.customerId,
    activationId,
    apiKeyId: token ? null : desktop.actor.apiKeyId,
    token,
    request: machine,
  });
  company.validations += 1;
}

async function moveMachine(stage: Running, license: License): Promise<void> {
  const { db, validator, now, random, by } = stage;
  await validator.recorder.flush();
  const list = await done(listActivations(db, now, validator.config, license.licenseKey));
  const [machine] = list.data;
  if (machine?.status !== 'active') return;
  const when = workingMoment(random, now.getTime() - days(90), now.getTime());
  await made(stage, at(by(), when), (change) => deactivateMachine(change, machine.activationId, machine));
}

/** The demo makes the machines of a year at once; the limits are those of an hour. */
const unlimited = (budgets: Budgets): Budgets => ({
  ...budgets,
  take: ({ limit }) => Promise.resolve({ allowed: true, limit, remaining: limit, resetSeconds: 0 }),
  putBack: () => undefined,
});
