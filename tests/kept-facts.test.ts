import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { activations } from '../contract/activations.ts';
import { credentials } from '../contract/credentials.ts';
import { customers } from '../contract/customers.ts';
import { licenses, type License } from '../contract/licenses.ts';
import { noPolicy, policies } from '../contract/policies.ts';
import { releases } from '../contract/releases.ts';
import { validation } from '../contract/validation.ts';
import {
  askFeed,
  enrollOn,
  makeApiKey,
  makeCustomer,
  makeLicense,
  makeRelease,
  unique,
  type Enrolled,
} from './factories.ts';
import { days, eventually, startTestServer, startTwin, type Api, type TestServer } from './harness.ts';

/* Two processes that keep facts answer as a third one that keeps none, whatever is changed in the meantime. */

const one = await startTestServer();
const other = await startTwin(one, { config: { storage: one.context.config.storage } });
/** No fact fits into its memory. */
const forgetful = await startTwin(one, { config: { cacheBytes: 1, storage: one.context.config.storage } });
const session = await one.signInAs('super_admin');
const staff = { one: one.api(session), other: other.api(session) };
const apiKey = await makeApiKey(staff.one, { scopes: ['validate', 'updates'] });
const rollout = await makeRelease(one, { version: '2.0.0' });
await makeRelease(one, { version: '1.5.0' });

const of = <T>(list: readonly T[], pick: number) => list[pick % list.length]!;
const machineIds = ['m-1', 'm-2', 'm-3'];
type World = {
  customers: string[];
  licenses: License[];
  tokens: Map<string, Enrolled>;
  name: (machineId: string) => string;
};

async function createWorld(): Promise<World> {
  const owners = [(await makeCustomer(staff.one)).customerId, (await makeCustomer(staff.one)).customerId];
  const made = await Promise.all(
    owners.map((customerId) => makeLicense(staff.one, { customerId, maxActivations: 2 })),
  );
  const prefix = unique('world');
  const world: World = {
    customers: owners,
    licenses: made,
    tokens: new Map(),
    name: (machineId) => `${prefix} ${machineId}`,
  };
  const machineId = world.name('m-1');
  world.tokens.set('m-1', await enrollOn(one, made[0]!, machineId));
  return world;
}

/** Each machine has one license: of several, the latest record would decide whose updates it gets. */
const homeOf = (world: World, machine: number) => of(world.licenses, machine % 2);

const bodyOf = (license: License, machineId: string) => ({ licenseKey: license.licenseKey, machineId });

/** What a process answers to the machines. Refused calls differ in nothing but the time of the last valid one. */
async function answersOf(world: World, on: TestServer): Promise<unknown[]> {
  const validated = async (license: License, machineId: string, headers: Record<string, string>) => {
    const { status, body } = await on
      .api({ headers })
      .call(validation.validate, { body: bodyOf(license, machineId) });
    if (status !== 200) return [status, body.error];
    const { code, license: about, activation, expiresAt } = body.data;
    return [code, about, { ...activation, lastCheckedAt: null }, expiresAt];
  };
  const fed = async (headers: Record<string, string>) => {
    const answer = await askFeed(on.api({ headers }), { 'x-app-version': '1.0.0' });
    const line = answer.status === 200 ? answer.text.split('\n')[0] : null;
    return [answer.status, answer.headers.get('x-update-reason'), line];
  };
  const answers: unknown[] = [];
  for (const [i, machineId] of machineIds.map(world.name).entries()) {
    answers.push(await validated(homeOf(world, i), machineId, apiKey.headers));
    answers.push(await fed({ ...apiKey.headers, 'x-machine-id': machineId }));
  }
  for (const { machineId, headers } of world.tokens.values()) {
    answers.push(await validated(world.licenses[0]!, machineId, headers), await fed(headers));
  }
  return answers;
}

/** Changes by staff and machines. A change may be refused: what counts is that the answers agree afterwards. */
type Step = (world: World, by: Api, pick: number) => Promise<unknown>;
const seatOf = async (world: World, by: Api, pick: number) => {
  const { licenseKey } = homeOf(world, pick % 3);
  const listed = await by.call(activations.list, { params: { licenseKey } });
  return listed.body.data?.find(({ machineId }) => machineId === world.name(of(machineIds, pick)));
};
const machineCall = (world: World, pick: number) =>
  bodyOf(homeOf(world, pick % 3), world.name(of(machineIds, pick)));
const patch = (world: World, by: Api, pick: number, body: object) =>
  by.call(licenses.update, { params: { id: of(world.licenses, pick).licenseId }, body });
const steps: Record<string, Step> = {
  revoke: ({ licenses: all }, by, pick) =>
    by.call(licenses.revoke, { params: { id: of(all, pick).licenseId } }),
  reactivate: ({ licenses: all }, by, pick) =>
    by.call(licenses.reactivate, { params: { id: of(all, pick).licenseId } }),
  end: (world, by, pick) => patch(world, by, pick, { validUntil: '2026-11-20T09:00:00Z' }),
  extend: (world, by, pick) => patch(world, by, pick, { validUntil: '2031-01-01T00:00:00Z' }),
  endSoon: (world, by, pick) => patch(world, by, pick, { validUntil: '2026-11-25T00:00:00Z' }),
  modules: (world, by, pick) =>
    patch(world, by, pick, { moduleIds: [of(['mod_copd', 'mod_diabetes'], pick >> 1)] }),
  seats: (world, by, pick) => patch(world, by, pick, { maxActivations: 1 + ((pick >> 1) % 3) }),
  transfer: (world, by, pick) =>
    by.call(licenses.transfer, {
      params: { id: of(world.licenses, pick).licenseId },
      body: { customerId: of(world.customers, pick >> 1) },
    }),
  deleteLicense: async (world, by, pick) => {
    // one is left for the tokens
    const last = world.licenses.at(-1)!;
    if (world.licenses.length === 1 || pick % 3) return;
    await by.call(licenses.revoke, { params: { id: last.licenseId } });
    await by.call(licenses.delete, { params: { id: last.licenseId } });
  },
  softDelete: (world, by, pick) =>
    by.call(customers.softDelete, { params: { id: of(world.customers, pick) } }),
  restore: (world, by, pick) => by.call(customers.restore, { params: { id: of(world.customers, pick) } }),
  deactivate: async (world, by, pick) => {
    const seat = await seatOf(world, by, pick);
    if (!seat) return;
    const { activationId, machineId } = seat;
    await by.call(activations.deactivate, { params: { activationId }, body: { machineId } });
  },
  endEnrollment: async (world, by, pick) => {
    const seat = await seatOf(world, by, pick);
    if (seat) await by.call(credentials.end, { params: { activationId: seat.activationId } });
  },
  enroll: async (world, _, pick) => {
    // those of the first license, which is never deleted
    const id = pick % 2 ? 'm-1' : 'm-3';
    const before = world.tokens.get(id);
    const on = pick % 2 ? one : other;
    const enrolled = await enrollOn(
      on,
      world.licenses[0]!,
      world.name(id),
      before ? { key: before.key } : {},
    ).catch(() => undefined);
    if (enrolled) world.tokens.set(id, enrolled);
  },
  release: (world, _, pick) =>
    (pick % 2 ? one : other).api(apiKey).call(validation.releaseSeat, { body: machineCall(world, pick) }),
  reactivateByStaff: (world, by, pick) => by.call(validation.validate, { body: machineCall(world, pick) }),
  pin: (world, by, pick) =>
    by.call(policies.putOfCustomer, {
      params: { id: of(world.customers, pick) },
      body: { ...noPolicy, pin: pick % 2 ? '1.5.' : null, tags: pick % 3 ? ['slow'] : [] },
    }),
  tag: (_, by, pick) =>
    by.call(policies.putOfTag, {
      params: { tag: 'slow' },
      body: { ...noPolicy, deferDays: pick % 2 ? 30 : null },
    }),
  rollout: (_, by, pick) =>
    by.call(releases.rollout, {
      params: { releaseId: rollout.id },
      body: { percentage: pick % 2 ? 0 : 100 },
    }),
  time: async (_, __, pick) => one.clock.advance(days(pick % 3)),
};

test('the answer from memory is the answer from the database, whatever is changed in between', async () => {
  const step = fc.record({
    name: fc.constantFrom(...Object.keys(steps)),
    pick: fc.nat({ max: 11 }),
    by: fc.constantFrom('one' as const, 'other' as const),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 16 }), async (list) => {
      one.clock.set('2026-11-20T09:30:00Z');
      const world = await createWorld();
      for (const { name, pick, by } of list) {
        // machines call while it is changed: what they read before must not be kept
        const calls = [answersOf(world, one), answersOf(world, other)];
        await steps[name]!(world, staff[by], pick);
        const [changing, changed] = by === 'one' ? [one, other] : [other, one];
        await Promise.all(calls);
        const expected = await answersOf(world, forgetful);
        expect(await answersOf(world, changing), `${name} in the process that made it`).toEqual(expected);
        await eventually(async () =>
          expect(await answersOf(world, changed), `${name} in the other process`).toEqual(expected),
        );
      }
    }),
    { numRuns: 5 },
  );
});

test('the policy of a first seat holds in other processes, also if the one that gave it dies at once', async () => {
  one.clock.set('2026-11-20T09:30:00Z');
  const [license, machineId] = [await makeLicense(staff.one), unique('first seat')];
  const params = { id: license.customerId };
  await staff.one.ok(policies.putOfCustomer, { params, body: { ...noPolicy, pin: '1.5.', tags: [] } });
  const offered = async (on: TestServer) =>
    (await askFeed(on.api(apiKey), { 'x-app-version': '1.0.0', 'x-machine-id': machineId })).text;
  await staff.one.ok(releases.rollout, { params: { releaseId: rollout.id }, body: { percentage: 100 } });
  await eventually(async () => (await offered(other)).includes('2.0.0'));
  const tell = vi.spyOn(one.context.signals, 'tell').mockImplementation(() => undefined);
  await one.api(apiKey).ok(validation.validate, { body: bodyOf(license, machineId) });
  tell.mockRestore();
  const expected = await offered(forgetful);
  expect(expected).toContain('1.5.0');
  await eventually(async () => (await offered(other)) === expected);
});
