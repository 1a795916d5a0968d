import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { MachineStanding } from '../../../contract/machine-standing.ts';
import { ListPages, ListSearch } from '../../list-search.tsx';
import { Loaded } from '../../LoadError.tsx';
import { machinePath } from '../../paths.ts';
import { useAuth } from '../../session.tsx';
import { ColumnChoice, useColumnChoice } from '../../ui/ColumnChoice.tsx';
import type { Peek } from '../../ui/data-table.ts';
import { DataTable } from '../../ui/DataTable.tsx';
import { FilterChips } from '../../ui/FilterChips.tsx';
import { ExportLink } from '../../ui/ListButtons.tsx';
import { FilterRow, Page } from '../../ui/Page.tsx';
import { lazyPart } from '../../ui/lazy-part.ts';
import { EmptyState } from '../../ui/states.tsx';
import { openViewOf, Views } from '../views/index.ts';
import { machineChips } from './machine-chips.ts';
import { machineColumns } from './machine-columns.tsx';
import { MachineFilters } from './MachineFilters.tsx';
import { machinePages, useMachinesSearch } from './machines-search.ts';
import { machinesExportUrl, machinesListQuery, machinesView } from './queries.ts';

const MachinePeek = lazyPart(() => import('./MachinePeek.tsx'));

const peek: Peek<MachineStanding> = {
  title: 'Machine',
  to: ({ displayId }) => machinePath(displayId),
  content: (standing) => <MachinePeek standing={standing} />,
};

/** All machines that validate or ask for updates. */
export function MachinesPage() {
  const { search, change } = useMachinesSearch();
  const { can } = useAuth();
  const navigate = useNavigate();
  const list = useQuery(machinesListQuery(search));
  const [visibility, setVisibility] = useColumnChoice('machines', hiddenAtFirst);
  const columns = machineColumns.filter(
    ({ id }) =>
      (id !== 'customer' || can.viewCustomers) && (!['license', 'state'].includes(id) || can.viewLicenses),
  );
  const filters = machineChips(search, list.data?.data);
  const isSet = (filter: string) => filters.chips.some(({ name }) => name === filter);
  const unread =
    isSet('state') && !can.viewLicenses
      ? ['licenses', 'state']
      : isSet('customer') && !can.viewCustomers
        ? ['customers', 'customer']
        : undefined;
  const viewed = { list: 'machines', search, params: machinesView } as const;
  const onOpen = ({ displayId }: MachineStanding) => void navigate({ to: machinePath(displayId) } as never);
  return (
    <Page title="Machines">
      <FilterRow
        left={
          <ListSearch
            search={search}
            change={change}
            placeholder={`Host name, machine id${can.viewCustomers ? ', customer' : ''}...`}
          />
        }
        filters={<MachineFilters />}
        filtersSet={filters.chips.length}
        right={
          <>
            <Views {...viewed} />
            <ColumnChoice columns={columns} visibility={visibility} onChange={setVisibility} />
            {!unread && <ExportLink href={machinesExportUrl(search)} />}
          </>
        }
      />
      <FilterChips {...filters} before={openViewOf(viewed)} change={change} />
      <Loaded query={list} title="Error loading machines">
        <DataTable
          label="Machines"
          columns={columns}
          rows={list.data?.data}
          rowId={({ displayId }) => displayId}
          rowLabel={({ hostname, displayId }) => hostname ?? displayId}
          actions={(row) => [{ label: 'Open', key: 'Enter', run: () => onOpen(row) }]}
          onOpen={onOpen}
          peek={peek}
          sort={search.sort ?? '-lastSeen'}
          onSort={(sort) => change({ sort: sort === 'lastSeen' ? sort : undefined })}
          columnVisibility={visibility}
          stale={list.isPlaceholderData}
          empty={
            search.search || filters.chips.length > 0 ? (
              <EmptyState
                title={unread ? 'Not shown' : 'No machines found'}
                onClear={() => change({ ...filters.none, search: undefined })}
              >
                {unread
                  ? `You may not read ${unread[0]}, so machines cannot be filtered by ${unread[1]}.`
                  : 'No machine matches all words and filters.'}
              </EmptyState>
            ) : (
              <EmptyState title="No machines yet">
                Machines appear here once they validate a license or ask for updates.
              </EmptyState>
            )
          }
        />
        <ListPages search={search} change={change} {...machinePages} list={list} />
      </Loaded>
    </Page>
  );
}

/** So that the reason of a refusal fits beside the rest. */
const hiddenAtFirst = { license: false };
