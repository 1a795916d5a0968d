import type { z } from 'zod';
import { utcDay } from '../../../contract/durations.ts';
import { instant } from '../../../contract/common.ts';
import { isCountryCode } from '../../../contract/countries.ts';
import { customerInput, type CustomerInput } from '../../../contract/customers.ts';
import {
  licenseFileColumns as columns,
  type ImportProblem,
  type licensesCheck,
  type LicensesFile,
} from '../../../contract/imports.ts';
import { extended, midnightOf, modalTerms } from '../../../contract/license-term.ts';
import { licenseInput, type License, type LicenseInput } from '../../../contract/licenses.ts';
import { moduleLabel } from '../../../contract/module-ids.ts';
import type { Module } from '../../../contract/modules.ts';
import { isUuid } from '../../../contract/text.ts';
import type { Change } from '../../change.ts';
import { csvText } from '../../csv.ts';
import type { Db } from '../../db/client.ts';
import { locks, waitForLock } from '../../db/locks.ts';
import { isFailure, type Failure } from '../../failure.ts';
import { createCustomer } from '../customers/index.ts';
import { createLicense, licenseCsvColumns } from '../licenses/index.ts';
import { listModules } from '../modules/index.ts';
import { findCustomers, nameKey } from './find-customers.ts';
import { countryCode } from './import-customers.ts';
import { answerProblems, inShort, problemsOf, refuseProblems, refuseUnchecked } from './problems.ts';
import { readTable, type Line } from './read-table.ts';

type Cells = Line<keyof typeof columns>['cells'];
type Say = (column: keyof typeof columns, message: string) => void;
/** `newCustomer`: the key of the name of a customer that is created first. */
type Row = { line: number; customerName: string; newCustomer: string | undefined; input: LicenseInput };

const noContact = { contactName: null, email: null, phone: null };
/** Stands for a customer that is not found or not created yet, so that the other fields are checked all the same. */
const placeholderId = '00000000-0000-7000-8000-000000000000';

/** The rows that can be issued, everything wrong with the others, and customers of no record by the key of their name. */
async function read(db: Db, now: Date, { csv, createCustomers }: LicensesFile) {
  const { lines, problems } = readTable(csv, columns, ['customer']);
  const texts = lines.map(({ cells }) => cells.customer);
  const [known, modules] = await Promise.all([findCustomers(db, texts), listModules(db)]);
  const rows: Row[] = [];
  const missing = new Map<string, CustomerInput & { line: number }>();
  const moduleOf = byName(modules);
  for (const { line, cells } of lines) {
    const found: ImportProblem[] = [];
    const say: Say = (column, message) => found.push({ line, column: columns[column], message });
    const key = nameKey(cells.customer);
    const all = known.get(key) ?? [];
    const live = all.filter(({ deleted_at }) => deleted_at === null);
    const country = countryCode(cells.country);
    if (country !== '' && !isCountryCode(country)) say('country', 'There is no such country');
    else if (country !== '' && live.length === 1 && country !== live[0]?.country)
      say('country', `Differs from the country of the customer, ${live[0]?.country}`);
    let newCustomer: string | undefined;
    if (key === '') say('customer', 'Customer is required');
    else if (live.length > 1) say('customer', `${live.length} customers have this name: write the id`);
    else if (live.length === 0 && all.length > 0) say('customer', 'Customer is soft-deleted');
    else if (live.length === 0 && isUuid(cells.customer))
      say('customer', 'There is no customer with this id');
    else if (live.length === 0) {
      newCustomer = key;
      const earlier = missing.get(key);
      if (!createCustomers) say('customer', 'There is no such customer');
      else if (!earlier && country === '') say('country', 'Country of the new customer is required');
      else if (earlier && [earlier.country, country].every(isCountryCode) && country !== earlier.country)
        say('country', `Differs from line ${earlier.line}`);
      const customer = customerInput.safeParse({ name: cells.customer, country });
      if (createCustomers && !earlier)
        for (const { path, message } of customer.error?.issues ?? [])
          if (path[0] === 'name') say('customer', message);
      if (!earlier) missing.set(key, { ...noContact, name: cells.customer, country, ...customer.data, line });
    }
    const parsed = licenseInput.safeParse({
      customerId: live[0]?.customer_id ?? placeholderId,
      ...valuesOf(cells, now, moduleOf, say),
    });
    // a cell that could not be read has its problem already
    const said = new Set(found.map(({ column }) => column));
    for (const problem of problemsOf(parsed, line, columns))
      if (!said.has(problem.column)) found.push(problem);
    for (const problem of found) problems.push(problem);
    const customerName = live[0]?.name ?? cells.customer;
    if (parsed.success && found.length === 0)
      rows.push({ line, customerName, newCustomer, input: parsed.data });
  }
  return { rows, problems, missing };
}

/** The fields of a license, with the defaults of the form where a cell is empty. */
function valuesOf(cells: Cells, now: Date, moduleOf: ModuleOf, say: Say) {
  const type = cells.type.toLowerCase() || 'trial';
  const term = type === 'enterprise' ? modalTerms.enterprise : modalTerms.trial;
  if (!['trial', 'enterprise'].includes(type)) say('type', 'Must be trial or enterprise');
  const atOnce = midnightOf(utcDay(now));
  const validFrom = instantOfCell(cells.validFrom, atOnce);
  if (!validFrom) say('validFrom', notDate);
  const validUntil = instantOfCell(cells.validUntil, extended(validFrom ?? atOnce, term));
  if (!validUntil) say('validUntil', notDate);
  const moduleIds = modulesOf(cells.moduleIds, moduleOf, say);
  const maxActivations = /^\d{1,15}$/.test(cells.maxActivations) ? Number(cells.maxActivations) : Number.NaN;
  if (cells.maxActivations !== '' && Number.isNaN(maxActivations))
    say('maxActivations', 'Must be a whole number');
  return {
    type,
    validFrom,
    validUntil,
    moduleIds,
    maxActivations: cells.maxActivations === '' ? 1 : maxActivations,
  };
}

const notDate = 'Must be a date such as 2027-01-31 or 31.01.2027';

/** The start of a day in UTC, or an instant; undefined for other text. */
function instantOfCell(text: string, otherwise: string | undefined): string | undefined {
  if (text === '') return otherwise;
  const [, day, month, year] = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/.exec(text) ?? [];
  const iso = day && month ? `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}` : text;
  return instant.safeParse(/^\d{4}-\d\d-\d\d$/.test(iso) ? midnightOf(iso) : iso).data;
}

const plain = (name: string) => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');

type ModuleOf = (text: string) => string | undefined;

/** Finds the id of a module by its id, name or label. */
function byName(modules: Module[]): ModuleOf {
  const ids = new Map<string, string>();
  for (const { moduleId, name } of modules)
    for (const key of [moduleId, name, moduleLabel(moduleId)].map(plain))
      if (!ids.has(key)) ids.set(key, moduleId);
  return (text) => ids.get(plain(text));
}

const mostModules = 200;

function modulesOf(cell: string, moduleOf: ModuleOf, say: Say): string[] {
  const texts = cell
    .split(/[,;|]/)
    .map((text) => text.trim())
    .filter(Boolean);
  // before any is looked up: one cell may hold all characters of a file
  if (texts.length > mostModules) {
    say('moduleIds', `Has ${texts.length} modules; a license may have ${mostModules}`);
    return [];
  }
  return [...new Set(texts)].map((text) => {
    const moduleId = moduleOf(text);
    if (moduleId === undefined) say('moduleIds', `There is no module ${text.slice(0, 100)}`);
    return moduleId ?? '';
  });
}

/** What the import would do. */
export async function checkLicenses(
  db: Db,
  now: Date,
  file: LicensesFile,
): Promise<z.output<typeof licensesCheck>> {
  const { rows, problems, missing } = await read(db, now, file);
  return {
    ...answerProblems(problems),
    checked: inShort(rows),
    names: [...missing.values()].map(({ name }) => name),
    rows: rows.map(({ line, customerName, newCustomer, input: { customerId: _customerId, ...input } }) => ({
      line,
      customerName,
      isNewCustomer: newCustomer !== undefined,
      ...input,
    })),
  };
}

/** Issues all licenses of the file, or none if anything is wrong with it, or else than when it was `checked`. */
export async function importLicenses(
  change: Change,
  { checked, ...file }: LicensesFile & { checked?: string | undefined },
): Promise<{ customers: number; licenses: License[]; csv: string } | Failure> {
  await waitForLock(change.tx, locks.imports);
  const { rows, problems, missing } = await read(change.tx, change.now, file);
  const wrong = refuseProblems(problems) ?? refuseUnchecked(rows, checked);
  if (wrong) return wrong;
  const made = new Map<string, string>();
  for (const [key, { line: _line, ...input }] of missing) {
    const customer = await createCustomer(change, input);
    made.set(key, customer.customerId);
  }
  const licenses: License[] = [];
  for (const { newCustomer, input } of rows) {
    const customerId = made.get(newCustomer ?? '') ?? input.customerId;
    const license = await createLicense(change, { ...input, customerId });
    if (isFailure(license)) return license;
    licenses.push(license);
  }
  return { customers: made.size, licenses, csv: csvText(licenses, licenseCsvColumns(change.now)) };
}
