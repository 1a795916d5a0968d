import { Button, UnstyledButton } from '@mantine/core';
import type { License, LicenseListMeta } from '../../../contract/licenses.ts';
import { useAuth } from '../../session.tsx';
import { RecordLink } from '../../shell/RecordLink.tsx';
import { DisabledReason } from '../../ui/DisabledReason.tsx';
import { IconChevronRight } from '../../ui/icons.tsx';
import { countOf, ownerText } from './license-labels.ts';
import classes from './licenses.module.css';

const unknown = 'unknown';

/** The section of a license: its customer, or one section for all whose customer is unknown. */
export const sectionOf = (license: License): string => (license.customer ? license.customerId : unknown);

/** Licenses of a section in the whole list, not only on this page. */
export function sectionCount(rows: License[], groups: LicenseListMeta['groups']): number {
  const customers = new Set(rows.map((row) => row.customerId));
  return groups.reduce((sum, group) => sum + (customers.has(group.customerId) ? group.count : 0), 0);
}

/** Header of a section (spec part 1, section 2). */
export function CustomerSection(props: {
  rows: License[];
  count: number;
  collapsed: boolean;
  onToggle: () => void;
  onPermanentDelete: (license: License) => void;
}) {
  const { rows, count, collapsed } = props;
  const { can } = useAuth();
  const [first] = rows;
  const customer = first?.customer;
  const elsewhere = count > rows.length;
  return (
    <>
      <UnstyledButton className={classes.sectionToggle} aria-expanded={!collapsed} onClick={props.onToggle}>
        <IconChevronRight />
        <span className="ellipsis">{ownerText(customer)}</span>
        <span className={classes.sectionCount}>
          {countOf(count)}
          {elsewhere && ` · ${rows.length} on this page`}
        </span>
      </UnstyledButton>
      {first && customer && can.viewCustomers && (
        <RecordLink kind="customer" id={first.customerId} size="xs" lh="1.5rem" display="inline-block">
          Open customer
        </RecordLink>
      )}
      {first && customer?.deletedAt && (
        <DisabledReason
          reason={
            !can.viewCustomers
              ? 'You may not see customers'
              : can.deleteCustomers
                ? null
                : 'You may not delete customers'
          }
        >
          <Button
            variant="subtle"
            color="red"
            style={{ '--button-hover': 'var(--ui-red-bg)' }}
            size="compact-xs"
            flex="none"
            onClick={() => props.onPermanentDelete(first)}
          >
            Permanently Delete
          </Button>
        </DisabledReason>
      )}
    </>
  );
}
