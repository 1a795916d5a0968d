import type { ReactNode } from 'react';
import type { Machine } from '../../../contract/machines.ts';
import type { MachineStanding } from '../../../contract/machine-standing.ts';
import { VersionLink } from '../../shell/RecordLink.tsx';
import { ExactTime } from '../../ui/RelativeTime.tsx';
import { platformText } from '../../platform-text.ts';
import classes from './machines.module.css';
import { countText } from '../../ui/numbers.ts';

/** What the machine reported about itself, and how often it was seen. `standing`: where it stands, once that is known. */
export function MachineFacts(props: { machine: Machine; standing: MachineStanding | undefined }) {
  const { machine, standing } = props;
  return (
    <dl className={`panel ${classes.facts}`}>
      <Fact name="Platform">{platformText(machine.platform, machine.architecture)}</Fact>
      <Fact name="Current Version">
        <VersionLink version={machine.lastVersion} releaseId={standing?.releaseId} />
      </Fact>
      <Fact name="OS Version">{machine.osVersion ?? 'Unknown'}</Fact>
      <Fact name="App Version">{machine.appVersion ?? 'Unknown'}</Fact>
      <Fact name="First Seen">
        <ExactTime value={machine.firstSeen} />
      </Fact>
      <Fact name="Last Seen">
        <ExactTime value={machine.lastSeen} />
      </Fact>
      <Fact name="Total Update Checks">{countText(machine.totalUpdateChecks)}</Fact>
      <Fact name="Total Downloads">{countText(machine.totalDownloads)}</Fact>
      <Fact name="Identity">
        {machine.provenAt ? (
          <>
            First proven <ExactTime value={machine.provenAt} />
          </>
        ) : (
          'Claimed only'
        )}
      </Fact>
      {machine.notes && (
        <Fact name="Notes" wide>
          {machine.notes}
        </Fact>
      )}
    </dl>
  );
}

function Fact({ name, wide, children }: { name: string; wide?: boolean; children: ReactNode }) {
  return (
    <div data-wide={wide || undefined}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
