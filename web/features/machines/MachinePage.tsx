import { Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { mostOfMachine, type Machine } from '../../../contract/machines.ts';
import { Loaded } from '../../LoadError.tsx';
import { paths } from '../../paths.ts';
import { oneOf } from '../../search-params.ts';
import { RecordPage } from '../../shell/RecordPage.tsx';
import { CopyText } from '../../ui/CopyText.tsx';
import { EventList } from './EventList.tsx';
import { machineTabs, type MachineTab } from './machine-search.ts';
import { CloneNotice } from './CloneNotice.tsx';
import { Downloads } from './Downloads.tsx';
import { MachineActivations } from './MachineActivations.tsx';
import { MachineFacts } from './MachineFacts.tsx';
import { machineOffersQuery, machineQuery, standingQuery, type MachineDetail } from './queries.ts';
import { Offers } from './Offers.tsx';
import { Standing } from './Standing.tsx';
import { Timeline } from './Timeline.tsx';
import { countText } from '../../ui/numbers.ts';

const route = getRouteApi('/signed-in/machines/$machineId');

/** All details of one client machine (spec part 2, section 2.6). */
export function MachinePage() {
  const { machineId } = route.useParams();
  const machine = useQuery(machineQuery(machineId));
  const offers = useQuery(machineOffersQuery(machineId));
  const standing = useQuery(standingQuery(machineId));
  const known = machine.data?.machine;
  return (
    <RecordPage
      what="machine"
      query={machine}
      others={[standing, offers]}
      back={{ to: paths.releases, label: 'Back to Releases' }}
      whyMissing="It may never have asked for updates here."
      title={known && `Machine ${known.displayId}`}
      name={standing.data?.hostname ?? undefined}
      beside={known && <Hash machine={known} />}
    >
      {(detail) => (
        <>
          <Loaded query={standing} title="Error loading the verdict">
            {standing.data && <Standing standing={standing.data} offers={offers} />}
          </Loaded>
          <CloneNotice activations={detail.activations} />
          <MachineFacts machine={detail.machine} standing={standing.data} />
          <Timeline machineId={machineId} />
          <History detail={detail} />
          <Offers machineId={machineId} />
        </>
      )}
    </RecordPage>
  );
}

const hashShown = 16;

/** The part of the hash that the spec shows (part 2, section 9); the whole hash is copied. */
function Hash({ machine }: { machine: Machine }) {
  return (
    <CopyText
      value={machine.machineIdHash}
      shown={machine.machineIdHash.slice(0, hashShown)}
      what="machine id hash"
    />
  );
}

/** Events, downloads and activations, each with its count. */
function History({ detail }: { detail: MachineDetail }) {
  const { tab = 'events' } = route.useSearch();
  const navigate = route.useNavigate();
  const { machine, updateHistory, downloadHistory, activations, totals } = detail;
  const lists = { events: updateHistory, downloads: downloadHistory, activations };
  const ever = { ...totals, downloads: machine.totalDownloads };
  const shown = lists[tab].length;
  // of events, only how many there ever were is counted
  const kept = tab === 'events' && shown < mostOfMachine ? shown : totals[tab];
  const tabs: Record<MachineTab, string> = {
    events: `Update Events (${countText(totals.events)})`,
    downloads: `Downloads (${countText(totals.downloads)})`,
    activations: `License Activations (${countText(totals.activations)})`,
  };
  const choose = (value: string | null) => {
    const chosen = oneOf(machineTabs, value ?? undefined);
    if (!chosen) return;
    const search = { tab: chosen === 'events' ? undefined : chosen };
    void navigate({ search, replace: true, resetScroll: false });
  };
  return (
    // the timeline above has the events, with runs folded together
    <Tabs value={tab} onChange={choose} className={tab === 'events' ? 'screen-only' : undefined}>
      <Tabs.List aria-label="History of the machine">
        {machineTabs.map((one) => (
          <Tabs.Tab key={one} value={one}>
            {tabs[one]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value={tab} pt={14}>
        {tab === 'events' ? (
          <EventList events={updateHistory} total={ever.events} />
        ) : tab === 'downloads' ? (
          <Downloads downloads={downloadHistory} total={ever.downloads} />
        ) : (
          <MachineActivations machine={machine.displayId} activations={activations} />
        )}
        <Latest shown={shown} kept={kept} ever={ever[tab]} />
      </Tabs.Panel>
    </Tabs>
  );
}

/** `ever`: with what was deleted since. */
function Latest({ shown, kept, ever }: { shown: number; kept: number; ever: number }) {
  const gone = ever - kept;
  if (shown === 0 || (shown >= kept && gone <= 0)) return null;
  return (
    <p className="dimmed small" style={{ margin: '8px 0 0' }}>
      {shown < kept && `The latest ${shown} of ${countText(kept)} are shown. `}
      {gone > 0 && `${countText(gone)} more ${gone === 1 ? 'is' : 'are'} no longer kept.`}
    </p>
  );
}
