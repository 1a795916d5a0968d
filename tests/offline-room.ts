import { activations } from '../contract/activations.ts';
import type { License } from '../contract/licenses.ts';
import { offline } from '../contract/offline.ts';
import { validation } from '../contract/validation.ts';
import { systemChange } from '../server/change.ts';
import { checkClock } from '../server/checked-time.ts';
import { machinesOf, makeApiKey } from './factories.ts';
import { auditOf, hours, numbers, startTestServer, startTwin, type Api } from './harness.ts';
import type { OfflineMachine } from './offline-machine.ts';

export const at = ({ licenseId }: Pick<License, 'licenseId'>) => ({ params: { id: licenseId } });
export const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status).toSorted();

/** Two processes of the service, and the calls that the tests of offline machines make there. */
export async function startOfflineRoom() {
  const server = await startTestServer();
  const twin = await startTwin(server);
  // by cookie: an access token would end while the tests let months pass
  const { byCookie } = await server.signInAs('super_admin');
  const key = await makeApiKey(server.api(byCookie));
  /** Staff and a desktop, each at the first process and at the second. */
  const staff: [Api, Api] = [server.api(byCookie), twin.api(byCookie)];
  const desktops: [Api, Api] = [server.api(key), twin.api(key)];
  const seatOf = async (license: License, { machineId }: Pick<OfflineMachine, 'machineId'>) =>
    (await machinesOf(staff[0], license)).find((machine) => machine.machineId === machineId)!;
  return {
    server,
    twin,
    byCookie,
    staff,
    desktops,
    seatOf,
    issue: (license: License, machine: OfflineMachine, who = staff[0]) =>
      who.call(offline.issue, { ...at(license), body: { request: machine.request(license) } }),
    giveBack: (license: License, receipt: string, who = staff[0]) =>
      who.call(offline.giveBack, { ...at(license), body: { receipt } }),
    release: (license: License, { machineId }: OfflineMachine, who = desktops[0]) =>
      who.ok(validation.releaseSeat, { body: { licenseKey: license.licenseKey, machineId } }),
    deactivate: async (license: License, machine: OfflineMachine, force?: boolean) => {
      const { activationId } = await seatOf(license, machine);
      const body = { machineId: machine.machineId, ...(force === undefined ? {} : { force }) };
      return staff[0].call(activations.deactivate, { params: { activationId }, body });
    },
    eventsOf: async (activationId: string) =>
      (await auditOf(server, activationId)).map((entry) => entry.event_type),
    /** Lets time pass as the service sees it: in steps that no job takes for a jump of the clock. */
    wait: async (ms: number): Promise<void> => {
      for (let left = ms; left > 0; left -= hours(20)) {
        server.clock.advance(Math.min(left, hours(20)));
        await systemChange(server.context, server.clock.now(), ({ tx, now }) => checkClock(tx, now));
      }
    },
  };
}

/** For every character of a text: the text with one bit of it changed, another one each time. */
export const flipped = (text: string) =>
  numbers(text.length).map((i) => {
    const character = String.fromCharCode(text.charCodeAt(i) ^ (1 << (i % 7)));
    return text.slice(0, i) + character + text.slice(i + 1);
  });
