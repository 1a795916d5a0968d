import { Skeleton, Stack, Text } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { BulkPreview as Preview, PlannedChange } from '../../../contract/license-bulk.ts';
import { moduleLabel } from '../../../contract/module-ids.ts';
import { sentenceOf } from '../../api-error.ts';
import { LicenseLink, RecordLink } from '../../shell/RecordLink.tsx';
import { BoxedList } from '../../ui/BoxedList.tsx';
import { ErrorText } from '../../ui/ErrorText.tsx';
import { utcDate } from '../../ui/time.ts';
import { acceptedSentences, refusedSentences } from '../../impact-labels.ts';
import { countOf, stateBadges } from './license-labels.ts';
import { countText } from '../../ui/numbers.ts';

/** Lines in the list: enough to recognize what is meant. */
const mostShown = 100;

/** What a bulk change would do: each license with its values before and after, and those that stay, with the reason. */
export function BulkPreview({ preview }: { preview: UseQueryResult<Preview> }) {
  const { data, error } = preview;
  if (error)
    return <ErrorText onRetry={preview.refetch}>{sentenceOf(error, 'The preview failed')}</ErrorText>;
  if (!data) return <Skeleton height={120} role="group" aria-label="Loading preview" />;
  const { changed, leftOut } = data;
  const hidden = changed.length + leftOut.length - mostShown;
  return (
    <Stack
      gap={6}
      aria-busy={preview.isPlaceholderData}
      opacity={preview.isPlaceholderData ? 0.5 : undefined}
    >
      <Text role="status">{summaryOf(data)}</Text>
      {data.machines !== null && changed[0] && (
        <Text>
          {(changed[0].after.status === 'revoked' ? refusedSentences : acceptedSentences)({
            machines: data.machines,
            offline: data.offline,
          }).join(' ')}
        </Text>
      )}
      <BoxedList label="Preview">
        {changed.slice(0, mostShown).map((planned) => (
          <Line key={planned.licenseId} of={planned}>
            {differenceOf(planned)}
          </Line>
        ))}
        {leftOut.slice(0, Math.max(0, mostShown - changed.length)).map((license) => (
          <Line key={license.licenseId} of={license}>
            <Text span c="dimmed">
              {license.reason}
            </Text>
          </Line>
        ))}
        {hidden > 0 && <li>… and {countOf(hidden)} more</li>}
      </BoxedList>
    </Stack>
  );
}

type NamedLicense = Pick<PlannedChange, 'licenseId' | 'licenseKey' | 'customerId' | 'customerName'>;

/** A license and its customer. */
export const Named = ({ license }: { license: NamedLicense }) => (
  <>
    <LicenseLink {...license} />{' '}
    <RecordLink kind="customer" id={license.customerId} c="dimmed">
      {license.customerName}
    </RecordLink>
  </>
);

function Line({ of, children }: { of: NamedLicense; children: ReactNode }) {
  return (
    <li style={{ overflowWrap: 'anywhere', marginBlockEnd: 6 }}>
      <Named license={of} />
      <div>{children}</div>
    </li>
  );
}

/** `34 licenses change. 3 stay as they are: 2 × Customer is soft-deleted, 1 × Ends on that day or later already.` */
function summaryOf({ changed, leftOut }: Preview): string {
  const change = `${countOf(changed.length)} ${changed.length === 1 ? 'changes' : 'change'}.`;
  if (leftOut.length === 0) return change;
  const reasons = new Map<string, number>();
  for (const { reason } of leftOut) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  const counts = [...reasons].map(([reason, count]) => `${reason} (${countText(count)})`);
  const stay = leftOut.length === 1 ? 'stays as it is' : 'stay as they are';
  return `${change} ${countOf(leftOut.length)} ${stay}: ${counts.join(', ')}.`;
}

function differenceOf({ before, after }: PlannedChange) {
  if (before.status && after.status)
    return (
      <>
        {stateBadges[before.status].word} → <b>{stateBadges[after.status].word}</b>
      </>
    );
  if (before.validUntil && after.validUntil)
    return (
      <>
        {utcDate(before.validUntil)} → <b>{utcDate(after.validUntil)}</b>
      </>
    );
  const [was = [], is = []] = [before.moduleIds, after.moduleIds];
  const added = is.filter((id) => !was.includes(id)).map((id) => `+ ${moduleLabel(id)}`);
  const removed = was.filter((id) => !is.includes(id)).map((id) => `− ${moduleLabel(id)}`);
  return [...added, ...removed].join(', ');
}
