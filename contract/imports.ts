import { z } from 'zod';
import { namedObject } from './common.ts';
import { license } from './licenses.ts';
import { permit, type Resource } from './permissions.ts';
import { route, staffWithAll } from './route.ts';
import { isStorableText } from './text.ts';

/** Rows of one file. */
export const mostImported = 1000;
/** Characters of one file. */
export const longestCsv = 500_000;

/** The columns of a file, by field. Names are compared without case, spaces and punctuation. */
export const customerFileColumns = {
  name: 'Company Name',
  contactName: 'Contact Name',
  email: 'Email',
  phone: 'Phone',
  country: 'Country',
} as const;
export const licenseFileColumns = {
  customer: 'Customer',
  country: 'Country',
  type: 'Type',
  maxActivations: 'Max Activations',
  validFrom: 'Valid From',
  validUntil: 'Valid Until',
  moduleIds: 'Modules',
} as const;

const csv = z
  .string()
  .max(longestCsv)
  .refine(isStorableText, 'Contains characters that are not text')
  .meta({ description: 'The file: comma, semicolon or tab between cells, the names of the columns first' });

/** An error in a file. `line` is that of the file, beginning with 1; `column` is null for the line as a whole. */
export const importProblem = namedObject('ImportProblem', {
  line: z.number(),
  column: z.string().nullable(),
  message: z.string(),
});
export type ImportProblem = z.output<typeof importProblem>;

export const importedCustomer = namedObject('ImportedCustomer', {
  line: z.number(),
  name: z.string(),
  contactName: z.string().nullable(),
  email: z.string().nullable(),
  phone: z.string().nullable(),
  country: z.string(),
});

export const importedLicense = namedObject('ImportedLicense', {
  line: z.number(),
  customerName: z.string(),
  isNewCustomer: z.boolean(),
  type: z.string(),
  maxActivations: z.number(),
  validFrom: z.string(),
  validUntil: z.string(),
  moduleIds: z.array(z.string()),
});
export type ImportedLicense = z.output<typeof importedLicense>;

const checkOf = <Row extends z.ZodType>(name: string, row: Row) =>
  namedObject(name, {
    problems: z.array(importProblem).meta({ description: 'At most 1,000' }),
    moreProblems: z.number().meta({ description: 'How many errors are not in the list' }),
    rows: z.array(row).meta({ description: 'What the import would make; complete only without problems' }),
    names: z
      .array(z.string())
      .meta({ description: 'Customers that the option is about: missing, or existing' }),
    checked: z.string().meta({
      description: 'To be sent with the import, which is refused if it would do something else by now',
    }),
  });
export const customersCheck = checkOf('CustomersCheck', importedCustomer);
export const licensesCheck = checkOf('LicensesCheck', importedLicense);

const customersFile = z.strictObject({
  csv,
  skipExisting: z.boolean().meta({ description: 'Skip customers whose name exists, instead of refusing' }),
});
export type CustomersFile = z.output<typeof customersFile>;
const checked = z.string().max(100).optional().meta({
  description: 'From the check: the import is refused if it would do something else by now',
});
const licensesFile = z.strictObject({
  csv,
  createCustomers: z
    .boolean()
    .meta({ description: 'Create customers that do not exist, instead of refusing' }),
});
export type LicensesFile = z.output<typeof licensesFile>;

/** An import says which names exist. */
const createsFrom = (resource: Resource) =>
  staffWithAll(permit(resource, 'create'), permit('customers', 'read'));

export const imports = {
  checkCustomers: route('POST', '/api/customers/import/check', {
    summary: 'What importing these customers would do, and every error by line; changes nothing',
    access: createsFrom('customers'),
    body: customersFile,
    answer: customersCheck,
    changesNothing: true,
  }),
  customers: route('POST', '/api/customers/import', {
    summary: 'Create all customers of a CSV file, or none if there is an error',
    access: createsFrom('customers'),
    body: customersFile.extend({ checked }),
    answer: namedObject('CustomersImported', { customers: z.number() }),
    status: 201,
    errors: ['RULE_VIOLATED', 'WRONG_STATE'],
  }),
  checkLicenses: route('POST', '/api/v1/licenses/import/check', {
    summary: 'What issuing these licenses would do, and every error by line; changes nothing',
    access: createsFrom('licenses'),
    body: licensesFile,
    answer: licensesCheck,
    changesNothing: true,
  }),
  licenses: route('POST', '/api/v1/licenses/import', {
    summary: 'Issue all licenses of a CSV file, or none if there is an error',
    access: createsFrom('licenses'),
    body: licensesFile.extend({ checked }),
    answer: namedObject('LicensesImported', {
      customers: z.number(),
      licenses: z.array(license),
      csv: z.string().meta({ description: 'The licenses with their keys, as CSV' }),
    }),
    status: 201,
    errors: ['RULE_VIOLATED', 'WRONG_STATE'],
  }),
};
