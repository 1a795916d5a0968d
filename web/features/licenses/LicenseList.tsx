import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { License, LicenseListMeta } from '../../../contract/licenses.ts';
import { ListPages, ListSearch } from '../../list-search.tsx';
import { Loaded } from '../../LoadError.tsx';
import { useKept } from '../../kept-work.ts';
import { licensePath } from '../../paths.ts';
import { useAuth } from '../../session.tsx';
import { ColumnChoice, useColumnChoice } from '../../ui/ColumnChoice.tsx';
import type { Peek } from '../../ui/data-table.ts';
import { FilterChips } from '../../ui/FilterChips.tsx';
import { DataTable } from '../../ui/DataTable.tsx';
import { ExportLink } from '../../ui/ListButtons.tsx';
import { FilterRow } from '../../ui/Page.tsx';
import { readDay } from '../../ui/typed-day.ts';
import { BulkActions } from './BulkActions.tsx';
import { CustomerSection, sectionCount, sectionOf } from './CustomerSection.tsx';
import { openViewOf, Views } from '../views/index.ts';
import { customerNameOf, licenseChips } from './license-chips.ts';
import { licenseActions, whyOnlyActivations, type AskedOfLicense } from './license-actions.ts';
import { hiddenAtFirst, licenseColumns } from './license-columns.tsx';
import { LicenseFilters } from './LicenseFilters.tsx';
import { licenseExportUrl, licenseView, pageSize, sortOf } from './queries.ts';
import type { Asked } from './ListDialogs.tsx';
import { NoLicenses } from './NoLicenses.tsx';
import { useLicenseList, usePrefetch } from './use-license-list.ts';
import { useExtend } from './use-extend.ts';
import { useSelected } from './use-selected.ts';
import { ListDialogs } from './LazyListDialogs.tsx';
import { lazyPart } from '../../ui/lazy-part.ts';

const LicensePeek = lazyPart(() => import('./LicensePeek.tsx'));

const peek: Peek<License> = {
  title: 'License',
  to: ({ licenseId }) => licensePath(licenseId),
  content: (license) => <LicensePeek license={license} />,
};

/** Filters, rows grouped by customer, and pages of one tab. */
export function LicenseList() {
  const { search, change, list } = useLicenseList();
  const { can } = useAuth();
  const navigate = useNavigate();
  const prefetch = usePrefetch();
  const rows = list.data?.data;
  const grouped = sortOf(search).endsWith('customer');
  const [visibility, setVisibility] = useColumnChoice('licenses', hiddenAtFirst);
  const selected = useSelected(search, rows);
  const [asked, setAsked] = useKept<Asked>('open: license action');
  const groups = useSections(list.data?.meta.groups, (license) =>
    setAsked({ about: 'permanentDelete', license }),
  );
  const columns = licenseColumns({ withCustomer: !grouped });
  const handlers = {
    can,
    onPage: ({ licenseId }: License) => void navigate({ to: licensePath(licenseId) } as never),
    onActivations: (license: License) => change({ activations: license.licenseKey }),
    onOpen: (license: License) => change({ edit: license.licenseId }),
    onAsk: (about: AskedOfLicense, license: License) => setAsked({ about, license }),
    onExtend: useExtend().extend,
  };

  const filters = licenseChips(search, rows);
  const viewed = { list: 'licenses', search, params: licenseView } as const;
  const total = list.data?.meta.total ?? 0;
  const page = search.page ?? 1;
  const approachNext = page * pageSize < total ? () => prefetch({ ...search, page: page + 1 }) : undefined;

  return (
    <>
      <FilterRow
        left={
          <>
            <ListSearch
              search={search}
              change={change}
              placeholder="Search licenses..."
              // a day as it is typed here would be another one to who opens the link elsewhere
              read={readDay}
            />
            {selected.licenses.length > 0 && (
              <BulkActions
                ticked={selected.licenses}
                total={total}
                mayChooseAll={selected.isPage && total > selected.licenses.length}
                isAll={selected.isAll}
                onAll={selected.selectAll}
                onClear={selected.clear}
                onAsk={setAsked}
              />
            )}
          </>
        }
        filters={
          selected.licenses.length === 0 && (
            <LicenseFilters customerName={customerNameOf(search.customer, rows)} />
          )
        }
        filtersSet={filters.chips.length}
        right={
          selected.licenses.length === 0 && (
            <>
              <Views {...viewed} />
              <ColumnChoice columns={columns} visibility={visibility} onChange={setVisibility} />
              <ExportLink href={licenseExportUrl(search)} />
            </>
          )
        }
      />
      <FilterChips {...filters} before={openViewOf(viewed)} change={change} />
      <Loaded query={list} title="Error loading licenses">
        <DataTable
          label="Licenses"
          columns={columns}
          rows={rows}
          rowId={(license) => license.licenseId}
          rowLabel={(license) => license.licenseKey}
          actions={(license) => licenseActions(license, handlers)}
          rowNote={whyOnlyActivations}
          peek={peek}
          sort={search.sort ?? 'customer'}
          onSort={(sort) => change({ sort })}
          columnVisibility={visibility}
          selection={can.updateLicenses ? selected.selection : undefined}
          onSelection={selected.select}
          groups={grouped ? groups : undefined}
          dense={!grouped}
          stale={list.isPlaceholderData}
          empty={<NoLicenses meta={list.data?.meta} />}
        />
      </Loaded>
      <div style={{ display: 'contents' }} onPointerEnter={approachNext} onFocus={approachNext}>
        <ListPages search={search} change={change} pageSize={pageSize} mostSkipped={null} list={list} />
      </div>
      {asked && <ListDialogs asked={asked} onClose={() => setAsked(undefined)} onBulkDone={selected.clear} />}
    </>
  );
}

/** The sections by customer: their headers, and which are collapsed. */
function useSections(counts: LicenseListMeta['groups'] = [], onPermanentDelete: (license: License) => void) {
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set());
  const toggle = (section: string) => {
    const next = new Set(collapsed);
    if (!next.delete(section)) next.add(section);
    setCollapsed(next);
  };
  return {
    of: sectionOf,
    isCollapsed: (section: string) => collapsed.has(section),
    header: (section: string, rows: License[]) => (
      <CustomerSection
        rows={rows}
        count={sectionCount(rows, counts)}
        collapsed={collapsed.has(section)}
        onToggle={() => toggle(section)}
        onPermanentDelete={onPermanentDelete}
      />
    ),
  };
}
