import { Button, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { License } from '../../../contract/licenses.ts';
import { ListPages } from '../../list-search.tsx';
import { useKept } from '../../kept-work.ts';
import { Loaded } from '../../LoadError.tsx';
import { licensePath } from '../../paths.ts';
import { usePrintedPage } from '../../printed-list.ts';
import { useAuth } from '../../session.tsx';
import { Card } from '../../ui/Card.tsx';
import { DataTable } from '../../ui/DataTable.tsx';
import { IconPlus } from '../../ui/icons.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { licenseActions, whyOnlyActivations, type AskedOfLicense } from './license-actions.ts';
import { licenseColumns } from './license-columns.tsx';
import { customerLicensesQuery, licensesPerPage } from './queries.ts';
import type { ChangeSearch } from '../../use-search.ts';
import { useExtend } from './use-extend.ts';
import { ListDialogs } from './LazyListDialogs.tsx';

type Asked = { about: AskedOfLicense; license: License };

/** The order and the page in the URL. */
type Listed = { sort?: string | undefined; licenses?: number | undefined };

/** The licenses of one customer, the one that lasts longest first, and what can be done with them. */
export function LicensesOfCustomer(props: {
  customerId: string;
  search: Listed;
  change: ChangeSearch<Listed>;
  /** Undefined where no license may be issued. */
  onIssue: (() => void) | undefined;
  onOpen: (license: License) => void;
  onActivations: (license: License) => void;
}) {
  const { customerId, search, change, onIssue, onOpen, onActivations } = props;
  const { can } = useAuth();
  const navigate = useNavigate();
  const { sort = '-validUntil' } = search;
  const { page, pageSize } = usePrintedPage(search.licenses, licensesPerPage);
  const list = useQuery(customerLicensesQuery(customerId, { page, sort }, pageSize));
  const [asked, setAsked] = useKept<Asked>('open: license of a customer');
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
                can,
                onPage: ({ licenseId }) => void navigate({ to: licensePath(licenseId) } as never),
                onActivations,
                onOpen,
                onExtend: extend,
                onAsk: (about, of) => setAsked({ about, license: of }),
              })
            }
            columnVisibility={{ validFrom: false, createdAt: false, modules: false }}
            rows={list.data?.data}
            rowId={(license) => license.licenseId}
            rowLabel={(license) => license.licenseKey}
            rowNote={whyOnlyActivations}
            sort={sort}
            // the usual order is followed by its reverse
            onSort={(by = sort === '-validUntil' ? 'validUntil' : undefined) =>
              change({ sort: by, licenses: undefined })
            }
            stale={list.isPlaceholderData}
            empty={<EmptyState title="No licenses">No license was issued to this customer.</EmptyState>}
          />
          {/* also of the last page when its last row is gone: it leads to the page before */}
          {(search.licenses !== undefined || (list.data?.meta.total ?? 0) > licensesPerPage) && (
            <ListPages
              label="Pages of licenses"
              search={{ page }}
              change={(to, how) => change({ licenses: to.page }, how)}
              pageSize={pageSize}
              mostSkipped={null}
              list={list}
            />
          )}
        </Stack>
      </Loaded>
      {asked && <ListDialogs asked={asked} onClose={close} />}
    </Card>
  );
}
