import type { License } from '../contract/licenses.ts';
import { noPolicy, policies as calls, weekdays, type UpdatePolicy } from '../contract/policies.ts';
import { systemChange } from '../server/change.ts';
import { askFeed, makeApiKey, makeRelease, unique, validateOn } from './factories.ts';
import { apiAt, startTestServer, type TestServer } from './harness.ts';

export const atNight = [{ zone: 'Europe/Berlin', weekdays: [...weekdays], from: '22:00', to: '05:00' }];

/** A machine that asks a feed: by what it sends, or known by its id. */
type Asking = { headers: Record<string, string> } | string;

/** A service, and the calls that the tests of policies make there. Its clock stands at 09:30 UTC, 10:30 in Berlin. */
export async function startPolicyRoom() {
  const server = await startTestServer();
  const staff = server.api(await server.signInAs('super_admin'));
  const key = await makeApiKey(staff, { scopes: ['updates', 'validate'] });
  const ofCustomer = (customerId: string, policy: Partial<UpdatePolicy>, tags: string[]) => ({
    params: { id: customerId },
    body: { ...noPolicy, ...policy, tags },
  });
  return {
    server,
    staff,
    key,
    put: (customerId: string, policy: Partial<UpdatePolicy> = {}, tags: string[] = []) =>
      staff.ok(calls.putOfCustomer, ofCustomer(customerId, policy, tags)),
    putTag: (tag: string, policy: Partial<UpdatePolicy>) =>
      staff.ok(calls.putOfTag, { params: { tag }, body: { ...noPolicy, ...policy } }),
    impact: (customerId: string, policy: Partial<UpdatePolicy>, tags: string[] = []) =>
      staff.ok(calls.impactOnCustomer, ofCustomer(customerId, policy, tags)),
    publish: async (...versions: string[]) => {
      for (const version of versions) await makeRelease(server, { version });
    },
    /** `1.2.0 OFFERED`: what the feed of electron-updater gives a machine on 1.0.0. */
    fed: async (
      machine: Asking,
      { of = server, version = '1.0.0' }: { of?: Pick<TestServer, 'url'>; version?: string } = {},
    ): Promise<string> => {
      const { headers } =
        typeof machine === 'string' ? { headers: { ...key.headers, 'x-machine-id': machine } } : machine;
      const answer = await askFeed(apiAt(of.url), { ...headers, 'x-app-version': version });
      const offered = answer.text.includes('url:') ? /version: "(.+)"/.exec(answer.text)?.[1] : 'nothing';
      return `${answer.status === 200 ? offered : answer.status} ${answer.headers.get('x-update-reason')}`;
    },
    /** A machine with a seat on a license; known by its id. */
    machineOn: async (license: License): Promise<string> => {
      const machineId = unique('machine');
      await validateOn(server.api(key), license, machineId);
      return machineId;
    },
    /** Removes releases, policies and tags. */
    clear: () =>
      systemChange(server.context, server.clock.now(), async ({ tx, announce }) => {
        await tx.deleteFrom('releases').execute();
        await tx.deleteFrom('update_policies').execute();
        await tx.deleteFrom('customer_tags').execute();
        await announce('releases');
        await announce('policies');
      }),
  };
}
