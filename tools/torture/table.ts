/** The results of a scenario. */
export type Figures = {
  scenario: string;
  /** What happens to the service. */
  description: string;
  /** Number of calls with the expected response. */
  answered: number;
  /** Number of calls with a 503 and `Retry-After`. */
  refused: number;
  /** Descriptions of all other calls, including those without a response. */
  failed: string[];
  /** The longest time in which no call of some kind succeeded, unless `description` defines it differently. */
  gapMs: number;
  /** Acknowledged changes that are not in the database, or are in it twice. */
  lost: unknown[];
};

const rows: Figures[] = [];

/** Adds the results of a scenario to the table; called before the assertions, so that failed ones are included. */
export function addResult(figures: Figures): void {
  rows.push(figures);
  console.log({ ...figures, failed: figures.failed.slice(0, 5), lost: figures.lost.slice(0, 5) });
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
const number = (n: number) => n.toLocaleString('en-US');

/** Prints the table of docs/operating.md with the results of this run. */
export function printTable(): void {
  const lines = rows.map(
    ({ scenario, description, answered, refused, failed, gapMs, lost }) =>
      `| ${scenario} | ${description} | ${[answered, refused, failed.length].map(number).join(' | ')} | ${seconds(gapMs)} | ${number(lost.length)} |`,
  );
  console.log(
    [
      '',
      '| scenario | what happens | succeeded | 503 | failed | longest gap | lost |',
      '| --- | --- | --: | --: | --: | --: | --: |',
      ...lines,
      '',
    ].join('\n'),
  );
}
