import type { CustomerOverview, CustomerReleases as OnPlatform } from '../../../contract/customer-page.ts';
import { RecordLink } from '../../shell/RecordLink.tsx';
import { Card } from '../../ui/Card.tsx';
import type { Column } from '../../ui/data-table.ts';
import { DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { platformText } from '../../platform-text.ts';
import classes from './customer-page.module.css';

const columns: Column<OnPlatform>[] = [
  {
    id: 'platform',
    header: 'Platform',
    cell: ({ platform, architecture }) => platformText(platform, architecture),
  },
  { id: 'channel', header: 'Channel', cell: ({ channel }) => channel },
  {
    id: 'offered',
    header: 'Offered',
    cell: ({ offered }) =>
      offered.length === 0 ? (
        'None'
      ) : (
        <ul className={`plain-list ${classes.offered}`}>
          {offered.map(({ id, version, rolloutPercentage, minimumAppVersion }) => (
            <li key={id}>
              <RecordLink kind="release" id={id} inherit>
                {version}
              </RecordLink>
              {rolloutPercentage < 100 && ` to ${rolloutPercentage} %`}
              {minimumAppVersion && ` (from ${minimumAppVersion})`}
            </li>
          ))}
        </ul>
      ),
  },
  {
    id: 'heldBack',
    header: 'Held Back',
    width: '50%',
    cell: ({ heldBack }) =>
      heldBack.map(({ version, why }) => (
        <span key={why} className={classes.text}>
          {version}: {why}
        </span>
      )),
  },
];

/** The update policy in sentences, and the releases that it leaves for each platform. */
export function CustomerReleases({ overview: { policy, releases } }: { overview: CustomerOverview }) {
  return (
    <Card title="Updates">
      {policy.length === 0 ? (
        <p className={classes.policy}>No update policy: its machines follow the rollouts.</p>
      ) : (
        <ul className={classes.policy}>
          {policy.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      )}
      {releases && (
        <DataTable
          label="Releases that machines may get"
          columns={columns}
          rows={releases}
          rowId={({ platform, architecture }) => `${platform} ${architecture}`}
          empty={<EmptyState title="No releases">No release was made yet.</EmptyState>}
        />
      )}
    </Card>
  );
}
