import { createHash } from 'node:crypto';
import type { z } from 'zod';
import type { ImportProblem } from '../../../contract/imports.ts';
import { fail, type Failure } from '../../failure.ts';

/** The errors of a row that the contract refuses, each with the name of its column. */
export const problemsOf = (
  { error }: { error?: z.ZodError | undefined },
  line: number,
  columns: Readonly<Record<string, string>>,
): ImportProblem[] =>
  (error?.issues ?? []).map(({ path, message }) => ({
    line,
    column: columns[String(path[0])] ?? null,
    message,
  }));

const mostAnswered = 1000;

const byLine = (problems: ImportProblem[]) => problems.toSorted((one, other) => one.line - other.line);

/** The first errors of a file in the order of its lines, and how many more it has. */
export const answerProblems = (problems: ImportProblem[]) => ({
  problems: byLine(problems).slice(0, mostAnswered),
  moreProblems: Math.max(0, problems.length - mostAnswered),
});

const mostDetails = 200;

/** The refusal of a file, which names its errors in the order of its lines. */
export function refuseProblems(problems: ImportProblem[]): Failure | undefined {
  const inOrder = byLine(problems);
  const [first, ...others] = inOrder;
  if (!first) return undefined;
  const details = inOrder
    .slice(0, mostDetails)
    .map((problem) => ({ path: placeOf(problem), message: problem.message }));
  const more = others.length > 0 ? ` (and ${others.length} more)` : '';
  return fail('RULE_VIOLATED', `${placeOf(first)}: ${first.message}${more}`, { details });
}

/** What a file would do, in short. */
export const inShort = (work: object): string =>
  createHash('sha256').update(JSON.stringify(work)).digest('base64url');

/** Refuses what would do something else than was checked: a customer may have been renamed, or the day may be another. */
export const refuseUnchecked = (work: object, checked = inShort(work)): Failure | undefined =>
  checked === inShort(work)
    ? undefined
    : fail('WRONG_STATE', 'The file would do something else than when it was checked. Look at it again.');

const placeOf = ({ line, column }: ImportProblem) => (column ? `line ${line}, ${column}` : `line ${line}`);
