/** What is told of a scenario. */
export type Figures = {
  scenario: string;
  /** What was done to the service. */
  ordeal: string;
  /** Calls that were answered as they should. */
  answered: number;
  /** Calls that were answered 503 with `Retry-After`. */
  refused: number;
  /** Every other answer, and none at all: what each said. */
  failed: string[];
  /** The longest time in which no call of some kind succeeded, or what `ordeal` says in its place. */
  gapMs: number;
  /** What was acknowledged and is not in the database, or is there twice. */
  lost: unknown[];
};

const rows: Figures[] = [];

/** Keeps the figures of a scenario for the table; told before they are judged, so that a failed one stands in it too. */
export function tell(figures: Figures): void {
  rows.push(figures);
  console.log({ ...figures, failed: figures.failed.slice(0, 5), lost: figures.lost.slice(0, 5) });
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
const number = (n: number) => n.toLocaleString('en-US');

/** The table of docs/operating.md, as this run has it. */
export function printTable(): void {
  const lines = rows.map(
    ({ scenario, ordeal, answered, refused, failed, gapMs, lost }) =>
      `| ${scenario} | ${ordeal} | ${[answered, refused, failed.length].map(number).join(' | ')} | ${seconds(gapMs)} | ${number(lost.length)} |`,
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
