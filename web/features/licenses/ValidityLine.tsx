import type { License } from '../../../contract/licenses.ts';
import { Card } from '../../ui/Card.tsx';
import { utcDate } from '../../ui/time.ts';
import { useNow } from '../../ui/use-now.ts';
import classes from './license-page.module.css';
import { validityMarks } from './validity.ts';

/** When the license was created, is valid and ends, on a line with today. */
export function ValidityLine({ license }: { license: License }) {
  const marks = validityMarks(license, useNow());
  const of = (label: string) => marks.find((mark) => mark.label === label)?.percent ?? 0;
  return (
    <Card title="Validity">
      <div className={classes.line} aria-hidden>
        <span
          className={classes.valid}
          style={{ left: `${of('Valid from')}%`, right: `${100 - of('Valid until')}%` }}
        />
        {marks.map(({ label, percent }) => (
          <span key={label} className={classes.mark} data-mark={label} style={{ left: `${percent}%` }} />
        ))}
      </div>
      <ol className={classes.days}>
        {marks.map(({ label, at }) => (
          <li key={label} data-mark={label}>
            <span>{label}</span> <time dateTime={at}>{utcDate(at)}</time>
          </li>
        ))}
      </ol>
    </Card>
  );
}
