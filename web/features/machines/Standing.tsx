import type { UseQueryResult } from '@tanstack/react-query';
import type { Explanation } from '../../../contract/machines.ts';
import type { MachineStanding } from '../../../contract/machine-standing.ts';
import { BucketStrip } from '../../BucketStrip.tsx';
import { LicenseLink, RecordLink } from '../../shell/RecordLink.tsx';
import { IconAlertTriangle, IconCircleCheck, IconCircleX } from '../../ui/icons.tsx';
import { shortDate, utcDate } from '../../ui/time.ts';
import { useNow } from '../../ui/use-now.ts';
import classes from './machines.module.css';
import { newestFor, verdictOf } from './verdict.ts';
import { countText } from '../../ui/numbers.ts';

const icons = { good: IconCircleCheck, warning: IconAlertTriangle, bad: IconCircleX };

/** Why the machine runs or does not, in a sentence; then its seat, license and customer. */
export function Standing(props: {
  standing: MachineStanding;
  offers: UseQueryResult<Explanation[], unknown>;
}) {
  const { standing, offers } = props;
  const now = useNow();
  const { tone, sentence, further } = verdictOf(standing, offers.data, now);
  const newest = newestFor(standing.version, offers.data ?? []);
  const Icon = icons[tone];
  return (
    <section className={`panel ${classes.verdict}`} data-tone={tone} aria-label="Verdict">
      <Icon size={20} />
      <div>
        <p className={classes.headline} aria-live="polite">
          {sentence}
        </p>
        {further && <p>{further}</p>}
        {newest?.reason === 'ROLLOUT_BUCKET' && (
          <div className={classes.strip}>
            <BucketStrip percentage={newest.rolloutPercentage} bucket={newest.bucket} />
          </div>
        )}
        <p className={classes.links}>
          <Holder standing={standing} now={now} />
        </p>
      </div>
    </section>
  );
}

function Holder({ standing, now }: { standing: MachineStanding; now: Date }) {
  const { hostname, customer, license, seat } = standing;
  return (
    <>
      {hostname && <span>{hostname}</span>}
      {customer && (
        <RecordLink kind="customer" id={customer.customerId}>
          {customer.name}
        </RecordLink>
      )}
      {license && <LicenseLink {...license} />}
      {license && (
        <span>
          {countText(license.currentActivations)} of {countText(license.maxActivations)} seats
        </span>
      )}
      {seat && <span>seat since {shortDate(seat.since)}</span>}
      {license && (
        <span>
          {Date.parse(license.validUntil) < now.getTime() ? 'ended' : 'valid until'}{' '}
          {utcDate(license.validUntil)}
        </span>
      )}
    </>
  );
}
