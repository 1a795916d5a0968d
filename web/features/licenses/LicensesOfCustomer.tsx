import { Button, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { License } from '../../../contract/licenses.ts';
import { useKept } from '../../kept-work.ts';
import { Loaded } from '../../LoadError.tsx';
import { licensePath } from '../../paths.ts';
import { forPaper, mostPrinted, usePrinted } from '../../printed-list.ts';
import { useAuth } from '../../session.tsx';
import { Card } from '../../ui/Card.tsx';
import { DataTable } from '../../ui/DataTable.tsx';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { Pagination } from '../../ui/Pagination.tsx';
import { IconPlus } from '../../ui/icons.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { licenseActions, whyOnlyActivations } from './license-actions.ts';
import { licenseColumns } from './license-columns.tsx';
import { customerLicensesQuery, licensesPerPage } from './queries.ts';
import { useExtend } from './use-extend.ts';
import { ListDialogs } from './lazy.ts';

type Asked = { about: 'transfer' | 'revoke' | 'reactivate'; license: License };

/** The licenses of one customer, the one that lasts longest first, and what can be done with them. */
export function LicensesOfCustomer(props: {
  customerId: string;
  /** Undefined where no license may be issued. */
  onIssue: (() => void) | undefined;
  onOpen: (license: License) => void;
  onActivations: (license: License) => void;
}) {
  const { customerId, onIssue, onOpen, onActivations } = props;
  const { can } = useAuth();
  const navigate = useNavigate();
  const [page, setPage] = useState(1);
  const [sort, setSort] = useState<string | undefined>('-validUntil');
  const list = useQuery(customerLicensesQuery(customerId, { page, sort }));
  const whole = useQuery({
    ...customerLicensesQuery(customerId, { page: 1, sort }, mostPrinted),
    ...forPaper(list.data),
  });
  const printed = usePrinted(whole);
  const [asked, setAsked] = useKept<Asked>('open: license of a customer');
  const ask = (about: Asked['about']) => (license: License) => setAsked({ about, license });
  const { extend } = useExtend();
  const close = () => setAsked(undefined);
  const issue = onIssue && (
    <Button variant="default" leftSection={<IconPlus />} onClick={onIssue}>
      Issue License
    </Button>
  );
  return (
    <Card title="Licenses" actions={issue}>
      <Loaded query={list} title="Error loading licenses">
        <Stack gap="sm">
          <DataTable
            label="Licenses of the customer"
            columns={licenseColumns({ withCustomer: false })}
            actions={(license) =>
              licenseActions(license, {
                mayUpdate: can.updateLicenses,
                onPage: ({ licenseId }) => void navigate({ to: licensePath(licenseId) } as never),
                onActivations,
                onOpen,
                onExtend: extend,
                onTransfer: ask('transfer'),
                onRevoke: ask('revoke'),
                onReactivate: ask('reactivate'),
              })
            }
            columnVisibility={{ validFrom: false, createdAt: false, modules: false }}
            rows={(printed ?? list.data)?.data}
            rowId={(license) => license.licenseId}
            rowLabel={(license) => license.licenseKey}
            rowNote={whyOnlyActivations}
            sort={sort}
            onSort={(by) => {
              setSort(by);
              setPage(1);
            }}
            stale={list.isPlaceholderData}
            empty={<EmptyState title="No licenses">No license was issued to this customer.</EmptyState>}
          />
          {/* also of the last page when its last row is gone: it leads to the page before */}
          {(page > 1 || (list.data?.meta.total ?? 0) > licensesPerPage) && (
            <Pagination
              label="Pages of licenses"
              page={printed ? 1 : page}
              pageSize={printed ? mostPrinted : licensesPerPage}
              total={list.data?.meta.total}
              onPage={setPage}
            />
          )}
        </Stack>
      </Loaded>
      <LazyDialogs>{asked && <ListDialogs asked={asked} onClose={close} />}</LazyDialogs>
    </Card>
  );
}
