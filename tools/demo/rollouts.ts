import { v7 as uuidv7 } from 'uuid';
import { hourMs } from '../../contract/durations.ts';
import { callName } from '../../contract/address.ts';
import { releases } from '../../contract/releases.ts';
import { personOf, type Caller } from '../../server/caller.ts';
import { runChange } from '../../server/change.ts';
import { ask } from '../../server/features/approvals/approvals.ts';
import { setChannel } from '../../server/features/approvals/channels.ts';
import { isNeedsApproval } from '../../server/features/approvals/needs-approval.ts';
import { updateRelease } from '../../server/features/releases/releases.ts';
import { machineHashOf } from '../../server/machine-hash.ts';
import { at, done, made, type Stage } from './stage.ts';
import { makeRelease, reportAll, type DemoMachine, type Updates } from './updates.ts';

/** Machines that take the failing release. */
const taking = 12;

/** A release that fails on all machines that take it, so that the guard pauses its rollout. */
export async function makePausedRollout(stage: Updates, by: Caller, machines: DemoMachine[]): Promise<void> {
  const version = {
    version: '4.3.0-beta.4',
    channel: 'beta' as const,
    daysAgo: 2,
    platform: 'win32' as const,
  };
  const { id: releaseId } = await makeRelease(stage, by, version);
  // where a machine has proven itself by its token, the guard counts only those that have
  const some = machines.filter(({ platform, actor }) => platform === 'win32' && actor).slice(0, taking);
  const { recorder, now } = stage;
  for (const machine of some) {
    const machineHash = machineHashOf(machine.machineId);
    const asMachine = { ...by, actor: machine.actor! };
    const offered = { machineHash, releaseId, toVersion: version.version };
    recorder.observe(asMachine, {
      ...offered,
      type: 'check',
      platform: 'win32',
      architecture: 'x64',
      channel: 'beta',
    });
    recorder.observe(asMachine, { ...offered, type: 'delivered', bytesDownloaded: 81_000_000 });
  }
  await recorder.flush();
  for (const machine of some)
    await reportAll(stage, by, machine, [
      {
        eventId: uuidv7(),
        machineId: machine.machineId,
        eventType: 'install_error',
        timestamp: now.toISOString(),
        toVersion: version.version,
        platform: 'win32',
        architecture: 'x64',
        channel: 'beta',
        errorCode: 'MSI_1603',
        errorMessage: 'The installer cannot stop the print service',
      },
    ]);
  await recorder.flush();
}

/** Two people require approvals on stable, and one asks the other to publish a draft. */
export async function makeApproval(
  stage: Stage & Updates,
  requester: Caller,
  approver: Caller,
): Promise<void> {
  const before = stage.now.getTime() - 3 * hourMs;
  const requestedBy = personOf(requester).email;
  await made(stage, at(approver, before), (change) =>
    setChannel(change.withConsent({ requestedBy, subjectId: 'stable' }), 'stable', true),
  );
  const draft = { version: '4.2.2', channel: 'stable' as const, daysAgo: 1, platform: 'win32' as const };
  const release = await makeRelease(stage, requester, draft, { isDraft: true });
  const asking = at(requester, before + hourMs);
  const body = { isDraft: false, rolloutPercentage: 5 };
  const refused = await runChange(stage, asking, (change) =>
    updateRelease(change, release.id, body, undefined),
  );
  if (!isNeedsApproval(refused)) throw new Error('Publishing on stable needs no approval');
  const asked = { call: callName(releases.update), params: { releaseId: release.id }, body };
  await done(
    runChange(stage, asking, (change) =>
      ask(change, { requireOwnPassword: false }, { ...asked, seen: refused.wanted.seen }, refused.wanted),
    ),
  );
}
