import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ListedTagPolicy } from '../../../contract/policies.ts';
import { ListPages, ListSearch } from '../../list-search.tsx';
import { Loaded } from '../../LoadError.tsx';
import { paths } from '../../paths.ts';
import { useAuth } from '../../session.tsx';
import type { Column } from '../../ui/data-table.ts';
import { DataTable } from '../../ui/DataTable.tsx';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { FilterRow, Page } from '../../ui/Page.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { TagPolicyModal } from './lazy.ts';
import { usePoliciesSearch } from './policies-search.ts';
import { policyText } from './policy-text.ts';
import { tagListQuery, tagPageSize } from './queries.ts';
import { countText } from '../../ui/numbers.ts';

/** The tags of customers, with the update policy that each gives them. */
export function PoliciesPage() {
  const { search, change } = usePoliciesSearch();
  const { can } = useAuth();
  const tags = useQuery(tagListQuery(search));
  const whyNot = can.updatePolicies ? null : 'You may not update rollouts';
  return (
    <Page title="Update Policies" back={{ to: paths.releases, label: 'Back to Releases' }}>
      <FilterRow left={<ListSearch search={search} change={change} placeholder="Search tags..." />} />
      <Loaded query={tags} title="Failed to load update policies">
        <DataTable
          label="Update policies of tags"
          columns={columns}
          rows={tags.data?.data}
          rowId={({ tag }) => tag}
          rowLabel={({ tag }) => tag}
          actions={({ tag }) => [
            {
              label: 'Edit',
              key: 'e',
              isMain: true,
              inRow: true,
              reason: whyNot,
              run: () => change({ tag }),
            },
          ]}
          stale={tags.isPlaceholderData}
          empty={
            <EmptyState
              title="No tags"
              onClear={search.search ? () => change({ search: undefined, page: undefined }) : undefined}
            >
              A tag gives its customers one update policy. Customers get tags under Customers, Updates.
            </EmptyState>
          }
        />
        <ListPages search={search} change={change} pageSize={tagPageSize} mostSkipped={null} list={tags} />
      </Loaded>
      <LazyDialogs>
        {search.tag && can.updatePolicies && (
          <TagPolicyModal tag={search.tag} onClose={() => change({ tag: undefined })} />
        )}
      </LazyDialogs>
    </Page>
  );
}

const columns: Column<ListedTagPolicy>[] = [
  { id: 'tag', header: 'Tag', cell: ({ tag }) => tag },
  { id: 'customers', header: 'Customers', align: 'right', cell: (row) => countText(row.customers) },
  { id: 'machines', header: 'Machines', align: 'right', cell: (row) => countText(row.machines) },
  {
    id: 'policy',
    header: 'Update Policy',
    cell: (row) => policyText(row) || <Text c="dimmed">Decides nothing</Text>,
  },
];
