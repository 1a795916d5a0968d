import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { License } from '../../../contract/licenses.ts';
import { Card } from '../../ui/Card.tsx';
import { utcDate } from '../../ui/time.ts';
import { useNow } from '../../ui/use-now.ts';
import { activationsQuery } from '../activations/index.ts';
import classes from './license-page.module.css';
import { graceUntil, validityMarks } from './validity.ts';

/** When the license was created, is valid and ends, on a line with today and the grace of its machines. */
export function ValidityLine({ license }: { license: License }) {
  const now = useNow();
  const graceMs = useQuery(activationsQuery(license.licenseKey)).data?.meta.validationGraceMs;
  const grace = graceMs === undefined ? undefined : graceUntil(license, now, graceMs);
  const marks = validityMarks(license, now, grace);
  const of = (label: string) => marks.find((mark) => mark.label === label)?.percent ?? 0;
  const between = (from: string, to: string) => ({ left: `${of(from)}%`, right: `${100 - of(to)}%` });
  return (
    <Card title="Validity">
      <div className={classes.line} aria-hidden>
        <span className={classes.valid} style={between('Valid from', 'Valid until')} />
        {grace && <span className={classes.grace} style={between('Today', 'Grace ends')} />}
        {marks.map(({ label, percent }) => (
          <span key={label} className={classes.mark} data-mark={label} style={{ left: `${percent}%` }} />
        ))}
      </div>
      <ol className={`plain-list ${classes.days}`}>
        {marks.map(({ label, at }) => (
          <li key={label} data-mark={label}>
            <span>{label}</span> <time dateTime={at}>{utcDate(at)}</time>
          </li>
        ))}
      </ol>
      {grace && (
        <Text c="dimmed" size="xs" mt={8}>
          Grace: a machine that is validated today and then loses its connection may run until{' '}
          {utcDate(grace)}.
        </Text>
      )}
    </Card>
  );
}
