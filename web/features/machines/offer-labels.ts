import type { Explanation, OfferReason } from '../../../contract/machines.ts';
import { fixedText } from '../../ui/numbers.ts';

/** Short label why a release is or is not offered; the sentence next to it has the numbers. */
export const reasonLabels: Record<OfferReason, string> = {
  OFFERED: 'Offered',
  FULL_RELEASE_OFFERED_INSTEAD: 'Full release instead',
  OTHER_PLATFORM: 'Other platform',
  NO_FEED: 'In no feed',
  CHANNEL: 'Other channel',
  DRAFT: 'Draft',
  INACTIVE: 'Inactive',
  DAMAGED: 'Damaged file',
  DELETED: 'In the recycle bin',
  PAUSED: 'Rollout paused',
  NOT_STARTED: 'Rollout at 0 %',
  ROLLOUT_BUCKET: 'Outside the rollout',
  MINIMUM_VERSION: 'Below minimum version',
  LICENSE_INACTIVE: 'License inactive',
  PINNED: 'Pinned version',
  UPDATES_ENDED: 'Updates ended',
  DEFERRED: 'Deferred',
  OUTSIDE_WINDOW: 'Outside the window',
  NOT_NEWER: 'Not newer',
  NEWER_RELEASE_OFFERED: 'Newer one offered',
};

/** Hides releases for other platforms: there are many, and they are irrelevant to this machine. */
export const isForPlatform = ({ reason }: Pick<Explanation, 'reason'>): boolean =>
  reason !== 'OTHER_PLATFORM';

/** `41.70 of 5 %`: bucket of the machine and rollout percentage; at 100 % the bucket does not matter. */
export const bucketText = ({
  bucket,
  rolloutPercentage,
}: Pick<Explanation, 'bucket' | 'rolloutPercentage'>): string =>
  bucket === null || rolloutPercentage === 100
    ? `${rolloutPercentage} %`
    : `${fixedText(bucket, 2)} of ${rolloutPercentage} %`;
