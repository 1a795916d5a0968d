import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { apiKeys, type ApiKey } from '../contract/api-keys.ts';
import { activations, type Activation, type ListedActivation } from '../contract/activations.ts';
import { credentials, enrollmentText } from '../contract/credentials.ts';
import { customers, type Customer } from '../contract/customers.ts';
import { licenses, type License } from '../contract/licenses.ts';
import type { Permission, RoleName } from '../contract/permissions.ts';
import type { RouteRequest } from '../contract/route.ts';
import { updateEvents, type ReportedEvent } from '../contract/update-events.ts';
import { updates } from '../contract/updates.ts';
import { rbac, users } from '../contract/users.ts';
import { validation, type ValidationResult } from '../contract/validation.ts';
import type { Release } from '../contract/releases.ts';
import { systemChange } from '../server/change.ts';
import { isFailure } from '../server/failure.ts';
import type { NewRelease } from '../server/features/releases/index.ts';
import { password, type Api, type Identity } from './api-client.ts';
import type { TestServer } from './harness.ts';

type Body<R> = R extends { body: infer B } ? B : never;
export type CustomerFields = Partial<Body<RouteRequest<typeof customers.create>>>;
export type LicenseFields = Partial<Body<RouteRequest<typeof licenses.create>>>;
export type ApiKeyFields = Partial<Body<RouteRequest<typeof apiKeys.create>>>;
export type MachineFacts = Partial<Body<RouteRequest<typeof validation.validate>>>;

/** All of one length, so that names sort in the order in which they were made. */
let count = 100_000;
/** A name that is unique in this run. */
export const unique = (what: string) => `${what} ${++count}`;

/** A customer in Germany with a unique name. */
export function makeCustomer(api: Api, fields: CustomerFields = {}): Promise<Customer> {
  return api.ok(customers.create, { body: { name: unique('Hospital'), country: 'DE', ...fields } });
}

/** An enterprise license with three seats and a long validity; for a new customer unless one is given. */
export async function makeLicense(api: Api, fields: LicenseFields = {}): Promise<License> {
  const customerId = fields.customerId ?? (await makeCustomer(api)).customerId;
  return api.ok(licenses.create, {
    body: {
      type: 'enterprise',
      validFrom: '2026-01-01T00:00:00Z',
      validUntil: '2036-01-01T00:00:00Z',
      maxActivations: 3,
      moduleIds: ['mod_lung_nodule', 'mod_diabetes'],
      ...fields,
      customerId,
    },
  });
}

/** An API key as returned by its creation, ready for calls. */
export type MadeApiKey = ApiKey & { key: string } & Identity;

/** An API key with a long validity and broad scopes. */
export async function makeApiKey(api: Api, fields: ApiKeyFields = {}): Promise<MadeApiKey> {
  const made = await api.ok(apiKeys.create, {
    body: { name: unique('Key'), expiresAt: '2036-01-01T00:00:00Z', rateLimit: 1_000_000, ...fields },
  });
  return { ...made, headers: { 'x-api-key': made.key } };
}

/** Validates a license on a machine, as a desktop does. */
export function validateOn(
  api: Api,
  license: Pick<License, 'licenseKey'> | string,
  machineId: string,
  facts: MachineFacts = {},
): Promise<ValidationResult> {
  const licenseKey = typeof license === 'string' ? license : license.licenseKey;
  return api.ok(validation.validate, { body: { licenseKey, machineId, ...facts } });
}

/** The Ed25519 key pair of a machine; `publicKey` as it is sent. */
export type MachineKey = { publicKey: string; privateKey: KeyObject };

export function makeMachineKey(): MachineKey {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return { publicKey: publicKey.export({ format: 'jwk' }).x!, privateKey };
}

/** The body of an enrollment, with a nonce signed by the key. */
export function signedEnrollment(
  licenseKey: string,
  machineId: string,
  { publicKey, privateKey }: MachineKey,
  nonce = randomBytes(12).toString('hex'),
) {
  const text = enrollmentText({ nonce, machineId, licenseKey });
  const signature = sign(null, Buffer.from(text), privateKey).toString('base64url');
  return { licenseKey, machineId, publicKey, nonce, signature };
}

/** A machine with a seat and a token. `headers` hold the token. */
export type Enrolled = Identity & { token: string; activationId: string; machineId: string; key: MachineKey };

/** Enrolls a machine, or enrolls it again with the same key. */
export async function enrollOn(
  server: { api(): Api },
  { licenseKey }: Pick<License, 'licenseKey'>,
  machineId: string,
  { key = makeMachineKey(), ...facts }: MachineFacts & { key?: MachineKey } = {},
): Promise<Enrolled> {
  const body = { ...facts, ...signedEnrollment(licenseKey, machineId, key) };
  const { machineToken: token, code, activation } = await server.api().ok(credentials.enroll, { body });
  if (token === null) throw new Error(`${machineId} could not enroll: ${code}`);
  const { activationId } = activation!;
  return { token, activationId, machineId, key, headers: { 'x-machine-token': token } };
}

/** The machines of a license. */
export function machinesOf(api: Api, license: Pick<License, 'licenseKey'>): Promise<ListedActivation[]> {
  return api.ok(activations.list, { params: { licenseKey: license.licenseKey } });
}

/** Staff take the seat of a machine. */
export function deactivate(
  api: Api,
  { activationId, machineId }: Pick<Activation, 'activationId' | 'machineId'>,
) {
  return api.ok(activations.deactivate, { params: { activationId }, body: { machineId } });
}

/** What a machine says of an update; an event is a check by Windows x64 unless it says otherwise. */
export type Told = Partial<ReportedEvent>;

/** Reports events, each with an id of its own. */
export const reportEvents = (api: Api, events: Told[]) =>
  api.ok(updateEvents.report, {
    body: {
      events: events.map((event) => ({
        eventId: uuidv7(),
        eventType: 'check' as const,
        platform: 'win32' as const,
        architecture: 'x64' as const,
        ...event,
      })),
    },
  });

/** Asks the feed of electron-updater as a program for Windows x64 does. */
export const askFeed = (api: Api, headers?: Record<string, string>) =>
  api.call(
    updates.electron,
    { params: { platform: 'win32', architecture: 'x64', file: 'latest.yml' } },
    headers,
  );

/** Moves a customer to the trash. */
export const softDelete = (api: Api, { customerId }: Pick<Customer, 'customerId'>) =>
  api.ok(customers.softDelete, { params: { id: customerId } });

/** Revokes a license. */
export const revoke = (api: Api, { licenseId }: Pick<License, 'licenseId'>) =>
  api.ok(licenses.revoke, { params: { id: licenseId } });

/**
 * A new user whose only role has exactly these permissions. `currentPassword`: that of the caller, who may have signed in
 * more than five minutes ago.
 */
export async function makeHolder(admin: Api, permissions: Permission[], currentPassword?: string) {
  const role = unique('role').replace(' ', '_') as RoleName;
  await admin.ok(rbac.createRole, { body: { roleId: role, description: 'Some', copyFrom: 'viewer' } });
  const body = { description: 'Some', requiresSecondFactor: false, permissions, currentPassword };
  await admin.ok(rbac.updateRole, { params: { roleId: role }, body });
  const email = `${role}@lanyard.test`;
  await admin.ok(users.create, { body: { email, name: '', password, role, currentPassword } });
  return { email, role };
}

/** A client for such a user. */
export async function signInWith(
  server: Pick<TestServer, 'api' | 'signIn'>,
  admin: Api,
  permissions: Permission[],
): Promise<Api> {
  const { email, role } = await makeHolder(admin, permissions);
  return server.api(await server.signIn(email, role));
}

/** What a release has unless a test says otherwise. */
export const plainBuild = {
  channel: 'stable',
  platform: 'win32',
  architecture: 'x64',
  fileKind: 'exe',
  blockmapKey: null,
  releaseNotes: null,
  minimumAppVersion: null,
  security: false,
  minimumSupportedVersion: null,
  isMandatory: false,
  isDraft: false,
  rolloutPercentage: 100,
  acceptableFailures: null,
  rolloutPlan: null,
  startsAt: null,
} as const;

/** Stores these bytes as a release: published to all for Windows x64, with a unique version. */
export async function makeRelease(
  server: TestServer,
  { bytes = 'MZ', ...fields }: Partial<NewRelease> & { bytes?: string } = {},
): Promise<Release> {
  const storageKey = `${unique('file').replace(' ', '-')}.exe`;
  if (!fields.externalUrl) await server.context.storage.put(storageKey, chunksOf(bytes));
  const build = {
    ...plainBuild,
    version: `1.0.${++count}`,
    fileName: 'Setup.exe',
    fileSize: bytes.length,
    sha512: createHash('sha512').update(bytes).digest('base64'),
    sha1: createHash('sha1').update(bytes).digest('hex'),
    ...(fields.externalUrl ? {} : { storageKey }),
    ...fields,
  } as NewRelease;
  const { context } = server;
  // loaded late: browser tests use the other factories, and load no service
  const { createRelease } = await import('../server/features/releases/index.ts');
  const release = await systemChange(context, context.clock(), (change) => createRelease(change, build));
  if (isFailure(release)) throw new Error(release.message);
  return { ...release, fileUrl: new URL(release.fileUrl, context.config.publicUrl).href };
}

async function* chunksOf(text: string) {
  yield Buffer.from(text);
}
