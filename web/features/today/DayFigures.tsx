import type { Figure } from '../../../contract/today-needs.ts';
import type { DayFigure } from '../../../contract/today.ts';
import classes from './today.module.css';
import { countText } from '../../ui/numbers.ts';

const names: Record<Figure, string> = {
  validations: 'Validations',
  refused: 'Refused',
  machines: 'Machines seen',
  checks: 'Update checks',
  downloads: 'Completed downloads',
  installs: 'Installs',
  failedInstalls: 'Failed installs',
};

const count = (value: number | null) => (value === null ? '—' : countText(value));

/** The counts since midnight UTC, beside those of yesterday at the same hour. */
export function DayFigures({ figures }: { figures: readonly DayFigure[] }) {
  return (
    <section className={`panel ${classes.figures}`} aria-label="The day in figures">
      <table>
        <caption>Since midnight UTC</caption>
        <thead>
          <tr>
            <td />
            <th scope="col">Today</th>
            <th scope="col" data-hint="Until the same hour">
              Yesterday
            </th>
          </tr>
        </thead>
        <tbody>
          {figures.map(({ figure, today, yesterday }) => (
            <tr key={figure}>
              <th scope="row">{names[figure]}</th>
              <td className={classes.now}>{count(today)}</td>
              <td>{count(yesterday)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p>Yesterday until the same hour.</p>
    </section>
  );
}
