import { Checkbox, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Explanation } from '../../../contract/machines.ts';
import { BucketStrip } from '../../BucketStrip.tsx';
import { Loaded } from '../../LoadError.tsx';
import { RecordLink } from '../../shell/RecordLink.tsx';
import type { Column } from '../../ui/data-table.ts';
import { DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { unusualKind } from '../releases/index.ts';
import classes from './machines.module.css';
import { machineOffersQuery } from './queries.ts';
import { bucketText, isForPlatform, reasonLabels } from './offer-labels.ts';

const title = 'Why this machine is or is not offered a release';

const columns: Column<Explanation>[] = [
  {
    id: 'version',
    header: 'Release',
    cell: (offer) => (
      <>
        <RecordLink kind="release" id={offer.releaseId} inherit>
          {offer.version}
        </RecordLink>{' '}
        <span className="dimmed">
          {offer.channel} {unusualKind(offer.fileKind)}
        </span>
      </>
    ),
  },
  {
    id: 'reason',
    header: 'Result',
    cell: (offer) => (
      <StatusBadge tone={offer.offered ? 'teal' : 'neutral'}>{reasonLabels[offer.reason]}</StatusBadge>
    ),
  },
  { id: 'bucket', header: 'Bucket and Rollout', align: 'right', cell: (offer) => <Bucket offer={offer} /> },
  {
    id: 'detail',
    header: 'Why',
    width: '60%',
    cell: (offer) => <Why offer={offer} />,
  },
];

function Bucket({ offer }: { offer: Explanation }) {
  const { bucket, rolloutPercentage, reason } = offer;
  const text = bucketText(offer);
  if (bucket === null || rolloutPercentage === 100) return text;
  return (
    <span className={classes.bucket}>
      <BucketStrip percentage={rolloutPercentage} bucket={bucket} paused={reason === 'PAUSED'} />
      {text}
    </span>
  );
}

/** The result in a sentence, and what else the policy of the customer looked at. */
function Why({ offer }: { offer: Explanation }) {
  const others = offer.policy.filter((sentence) => sentence !== offer.detail);
  return (
    <div className={classes.why}>
      {offer.detail}
      {others.map((sentence) => (
        <div key={sentence} className="dimmed">
          {sentence}
        </div>
      ))}
    </div>
  );
}

/** The decision of the update feeds for each release, with its numbers. */
export function Offers({ machineId }: { machineId: string }) {
  const offers = useQuery(machineOffersQuery(machineId));
  const [all, setAll] = useState(false);
  const others = offers.data?.filter((offer) => !isForPlatform(offer)).length ?? 0;
  return (
    <section>
      <Group justify="space-between" mb={8} mih={28}>
        <h2 className="heading">{title}</h2>
        {others > 0 && (
          <Checkbox
            className="screen-only"
            label={`Show ${others} for other platforms`}
            checked={all}
            onChange={(event) => setAll(event.currentTarget.checked)}
          />
        )}
      </Group>
      <Loaded query={offers} title="Error loading explanations">
        <div className="bounded">
          <DataTable
            label={title}
            columns={columns}
            rows={all ? offers.data : offers.data?.filter(isForPlatform)}
            rowId={(offer) => offer.releaseId}
            empty={<EmptyState title="No releases">There is no release for this machine.</EmptyState>}
          />
        </div>
      </Loaded>
    </section>
  );
}
