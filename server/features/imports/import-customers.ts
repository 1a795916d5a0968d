import { countries, isCountryCode } from '../../../contract/countries.ts';
import { customerInput, type CustomerInput } from '../../../contract/customers.ts';
import {
  customerFileColumns,
  type customersCheck,
  type CustomersFile,
  type ImportProblem,
} from '../../../contract/imports.ts';
import { z } from 'zod';
import type { Change } from '../../change.ts';
import type { Db } from '../../db/client.ts';
import { locks, waitForLock } from '../../db/locks.ts';
import type { Failure } from '../../failure.ts';
import { createCustomer } from '../customers/index.ts';
import { findCustomers, nameKey } from './find-customers.ts';
import { answerProblems, inShort, problemsOf, refuseProblems, refuseUnchecked } from './problems.ts';
import { readTable } from './read-table.ts';

type Row = CustomerInput & { line: number };

const fileInput = customerInput.extend({
  country: z.string().refine(isCountryCode, 'Must be a two-letter country code or an English name'),
});

/** A name without what people write in different ways: case, accents, punctuation, `&` for `and`. */
const spelling = (name: string): string => {
  const plain = name.normalize('NFKD').toLowerCase();
  return plain.replaceAll('&', 'and').replaceAll(/[^a-z]/g, '');
};
const codesByName = new Map(
  countries.flatMap(({ code, name, also }) => [name, ...also].map((one) => [spelling(one), code])),
);

/** The code of a country that is given by code or an English name; other text is unchanged. */
export function countryCode(text: string): string {
  const code = text.toUpperCase();
  return isCountryCode(code) ? code : (codesByName.get(spelling(text)) ?? text);
}

async function read(db: Db, { csv, skipExisting }: CustomersFile) {
  const { lines, problems } = readTable(csv, customerFileColumns, ['name', 'country']);
  const existing = await findCustomers(
    db,
    lines.map(({ cells }) => cells.name),
  );
  const firstLines = new Map<string, number>();
  const rows: Row[] = [];
  const names: string[] = [];
  for (const { line, cells } of lines) {
    const key = nameKey(cells.name);
    const found = existing.get(key);
    const exists = found?.some(({ deleted_at }) => deleted_at === null) ?? false;
    if (exists) names.push(cells.name);
    if (exists && skipExisting) continue;
    const parsed = fileInput.safeParse({ ...cells, country: countryCode(cells.country) });
    for (const problem of problemsOf(parsed, line, customerFileColumns)) problems.push(problem);
    if (key === '') continue;
    const say = (message: string): ImportProblem => ({ line, column: customerFileColumns.name, message });
    const earlier = firstLines.get(key);
    firstLines.set(key, earlier ?? line);
    if (earlier !== undefined) problems.push(say(`Has the same name as line ${earlier}`));
    else if (exists) problems.push(say('A customer with this name exists'));
    else if (found) problems.push(say('Customer is soft-deleted'));
    else if (parsed.success) rows.push({ line, ...parsed.data });
  }
  return { rows, problems, names };
}

/** What the import would do. */
export async function checkCustomers(db: Db, file: CustomersFile): Promise<z.output<typeof customersCheck>> {
  const { rows, problems, names } = await read(db, file);
  return { rows, names, checked: inShort(rows), ...answerProblems(problems) };
}

/** Creates all customers of the file, or none if anything is wrong with it, or else than when it was `checked`. */
export async function importCustomers(
  change: Change,
  { checked, ...file }: CustomersFile & { checked?: string | undefined },
): Promise<{ customers: number } | Failure> {
  await waitForLock(change.tx, locks.imports);
  const { rows, problems } = await read(change.tx, file);
  const wrong = refuseProblems(problems) ?? refuseUnchecked(rows, checked);
  if (wrong) return wrong;
  for (const { line: _line, ...input } of rows) await createCustomer(change, input);
  return { customers: rows.length };
}
