import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { customers } from '../../../contract/customers.ts';
import { customerFileColumns, imports as calls } from '../../../contract/imports.ts';
import { licenses } from '../../../contract/licenses.ts';
import { makeCustomer, signInWith, softDelete, unique } from '../../../tests/factories.ts';
import { startTestServer } from '../../../tests/harness.ts';
import { csvText, withFormulas, withoutFormulas } from '../../csv.ts';
import { readTable } from './read-table.ts';

const server = await startTestServer();
const api = server.api(await server.signInAs('super_admin'));

const check = (csv: string, createCustomers = false) =>
  api.ok(calls.checkLicenses, { body: { csv, createCustomers } });
const said = ({ problems }: { problems: { line: number; column: string | null; message: string }[] }) =>
  problems.map(({ line, column, message }) => `${line} ${column ?? '-'}: ${message}`);
const countOf = async (customerId: string) => (await api.ok(licenses.list, { query: { customerId } })).length;
const named = async (name: string) => (await api.ok(customers.list, { query: { search: name } })).length;

/** What the form says about a name of more than 200 characters. */
async function ruleOfLongNames(): Promise<string> {
  const { body } = await api.call(customers.create, { body: { name: 'L'.repeat(201), country: 'DE' } });
  return body.details[0]!.message;
}

describe('issuing licenses from a file', () => {
  test('takes what spreadsheets write, and fills in the defaults of the form', async () => {
    const { name, customerId } = await makeCustomer(api, { name: `${unique('Klinik')}; Süd, "Nord"` });
    const quoted = `"${name.replaceAll('"', '""')}"`;
    const rows = [
      ['Customer', 'type', 'max_activations', 'Valid From', 'Valid Until', 'Modules'],
      [quoted.toUpperCase(), '', '', '', '', ''],
      [customerId, 'Enterprise', '3', '31.01.2027', '', '"mod_copd, Lung Nodule"'],
      ['"multi\nline"', 'trial', '1', '2027-01-01', '2027-02-01T12:00:00Z', ''],
    ];
    const lines = (separator: string, end: string) => rows.map((cells) => cells.join(separator)).join(end);
    for (const csv of [
      `\ufeff${lines(';', '\r\n')}\r\n\r\n`,
      lines(',', '\n'),
      `sep=\t\r\n${lines('\t', '\r\n')}`,
    ]) {
      const shift = csv.startsWith('sep') ? 1 : 0;
      const answer = await check(csv);
      expect(said(answer)).toEqual([`${4 + shift} Customer: There is no such customer`]);
      expect(answer.names).toEqual(['multi\nline']);
      expect(answer.rows).toEqual([
        {
          line: 2 + shift,
          customerName: name,
          isNewCustomer: false,
          type: 'trial',
          maxActivations: 1,
          validFrom: '2026-11-20T00:00:00.000Z',
          validUntil: '2026-12-20T00:00:00.000Z',
          moduleIds: [],
        },
        {
          line: 3 + shift,
          customerName: name,
          isNewCustomer: false,
          type: 'enterprise',
          maxActivations: 3,
          validFrom: '2027-01-31T00:00:00.000Z',
          validUntil: '2028-01-31T00:00:00.000Z',
          moduleIds: ['mod_copd', 'mod_lung_nodule'],
        },
      ]);
    }
    expect(await countOf(customerId)).toBe(0);
  });

  test.each([',', '\t'])(
    'names the first line of a row that has several, with cells split by "%s"',
    (sign) => {
      const rows = [['Customer', 'Type'], [], ['', ''], ['"a\n\nb"', '"c\nd"'], ['"e\n"', ''], ['f', '']];
      const csv = rows.map((cells) => cells.join(sign)).join('\n');
      const { lines } = readTable(csv, { customer: 'Customer', type: 'Type' }, []);
      expect(lines.map(({ line }) => line)).toEqual([4, 8, 10]);
    },
  );

  test('takes what is copied from a sheet, with its own quotation marks', async () => {
    const { name, customerId } = await makeCustomer(api, { name: `"Nord" ${unique('Klinik "St. Anna"')}` });
    const csv = `Customer\tCountry\tModules\r\n${name}\tDE\u00a0\t"COPD,\nLung Nodule"\r\n"Anna"\t\t\r\n`;
    const answer = await check(csv);
    expect(said(answer)).toEqual(['4 Customer: There is no such customer']);
    expect(answer.names).toEqual(['Anna']);
    expect(answer.rows).toMatchObject([{ customerName: name, moduleIds: ['mod_copd', 'mod_lung_nodule'] }]);
    expect(await countOf(customerId)).toBe(0);
    // nor does what stands around the text of a cell
    const padded = `Company Name\tContact Name\tCountry\n${unique('Clinic')}\t"\t\nAda Byrne \n\t"\tDE\n`;
    const { problems, rows } = await api.ok(calls.checkCustomers, {
      body: { csv: padded, skipExisting: false },
    });
    expect([problems, rows]).toMatchObject([[], [{ contactName: 'Ada Byrne', country: 'DE' }]]);
    // in a time that grows with the square of the cell, this test would exceed its own by far
    const wide = `Customer\tModules\n${name}\t"x${'\t'.repeat(450_000)}x"\n`;
    expect(said(await check(wide))).toEqual([expect.stringMatching(/^2 Modules: /)]);
    // of one column, nothing separates the cells
    const alone = await makeCustomer(api, { name: unique('Praxis "Süd", Ulm') });
    expect((await check(`Customer\r\n${alone.name}\r\n`)).rows).toMatchObject([{ customerName: alone.name }]);
  });

  test('refuses a quotation mark before a copied cell, which would swallow the lines below', async () => {
    for (const [last, line] of [
      ['Süd"', 2],
      ['"Süd"', 2],
      ['Süd', 4],
    ]) {
      const csv = `Company Name\tContact Name\tCountry\nA\t"Nord\tDE\nB\tOst\tDE\nC\t${last}\tDE\n`;
      const answer = await api.ok(calls.checkCustomers, { body: { csv, skipExisting: false } });
      expect(said(answer)).toEqual([`${line} -: A quotation mark is not closed, or stands inside of a cell`]);
    }
  });

  test('takes columns that a sheet still has although they are empty, and nothing in them', async () => {
    const { name } = await makeCustomer(api);
    const csv = `Customer;;Country;;\r\n${name};;DE;;\r\n;;;;\r\n`;
    const { problems, rows } = await check(csv);
    expect([problems, rows.length]).toEqual([[], 1]);
    expect(said(await check(`Customer;;\n${name};;lost`))).toEqual([
      '2 -: Has a cell in a column without a name',
    ]);
  });

  test.each(['#N/A', '#NV', '#BEZUG!', '#¿NOMBRE?', '#DIV/0!', '####'])(
    'refuses %s, which a sheet shows where a formula has no result',
    async (cell) => {
      const csv = `Company Name,Contact Name,Country\n${unique('Clinic')},${cell},DE`;
      const answer = await api.ok(calls.checkCustomers, { body: { csv, skipExisting: false } });
      expect(said(answer)).toEqual([`2 Contact Name: ${cell} is the error of a formula`]);
    },
  );

  test('names every error of every line, and makes nothing at all', async () => {
    const { name, customerId } = await makeCustomer(api);
    const twin = unique('Twin');
    await makeCustomer(api, { name: twin });
    await makeCustomer(api, { name: twin.toUpperCase() });
    const gone = await makeCustomer(api);
    await softDelete(api, gone);
    const csv = [
      'Customer,Country,Type,Max Activations,Valid From,Valid Until,Modules',
      `${name},,trial,1,2027-01-01,2027-02-01,mod_copd`,
      `${name},,perpetual,half,2027-02-30,1/2/2027,mod_astrology`,
      `${name},,trial,0,2027-01-01,2026-01-01,`,
      `${twin},,,,,,`,
      `${gone.name},,,,,,`,
      `,,trial,,,,`,
      `Nobody at all,,,,,,`,
      `${name},,,,,,,one cell too many`,
      `${name},,,99999999999,,,`,
    ].join('\n');
    const body = { csv, createCustomers: false };
    const expected = [
      '9 -: Has more cells than there are columns. Put a cell with a separator in quotes',
      '3 Type: Must be trial or enterprise',
      '3 Valid From: Must be a date such as 2027-01-31 or 31.01.2027',
      '3 Valid Until: Must be a date such as 2027-01-31 or 31.01.2027',
      '3 Modules: There is no module mod_astrology',
      '3 Max Activations: Must be a whole number',
      '4 Max Activations: Must be at least 1',
      '4 Valid Until: Must be after Valid From',
      '5 Customer: 2 customers have this name: write the id',
      '6 Customer: Customer is soft-deleted',
      '7 Customer: Customer is required',
      '8 Customer: There is no such customer',
      '10 Max Activations: Must be at most 1,000,000',
    ];
    expect(said(await check(csv)).toSorted()).toEqual(expected.toSorted());
    const answer = await api.call(calls.licenses, { body });
    expect([answer.status, answer.body.code]).toEqual([422, 'RULE_VIOLATED']);
    expect(answer.body.details).toHaveLength(expected.length);
    expect(answer.body.error).toBe('line 3, Type: Must be trial or enterprise (and 12 more)');
    expect(await countOf(customerId)).toBe(0);
  });

  test('creates missing customers on request, once each, and answers keys and a file', async () => {
    const clinic = unique('=Clinic');
    const csv = `Customer;Country\n${clinic};ireland\n${clinic.toUpperCase()};\n`;
    expect(said(await check(csv))).toEqual([
      '2 Customer: There is no such customer',
      '3 Customer: There is no such customer',
    ]);
    expect(said(await check(`Customer\n${clinic}`, true))).toEqual([
      '2 Country: Country of the new customer is required',
    ]);
    const preview = await check(csv, true);
    expect([preview.problems, preview.names, preview.rows.map((row) => row.isNewCustomer)]).toEqual([
      [],
      [clinic],
      [true, true],
    ]);
    expect(await named(clinic)).toBe(0);
    const answer = await api.ok(calls.licenses, { body: { csv, createCustomers: true } });
    expect([answer.customers, answer.licenses.length, await named(clinic)]).toEqual([1, 2, 1]);
    expect(await countOf(answer.licenses[0]!.customerId)).toBe(2);
    for (const { licenseKey } of answer.licenses) expect(answer.csv).toContain(licenseKey);
    // as in every file that Lanyard writes, a spreadsheet must not run it
    expect(answer.csv).toContain(`,'${clinic},`);
  });

  test('of many rows works, and of more than 1,000 says why not', async () => {
    const { name, customerId } = await makeCustomer(api);
    const csv = (rows: number) => `Customer,Modules\n${`${name},mod_copd\n`.repeat(rows)}`;
    const { licenses: made } = await api.ok(calls.licenses, {
      body: { csv: csv(250), createCustomers: false },
    });
    expect(new Set(made.map(({ licenseKey }) => licenseKey)).size).toBe(250);
    expect(await countOf(customerId)).toBe(250);
    expect(said(await check(csv(1001)))).toEqual([
      '1 -: There are 1001 rows; a file may have 1000. Split it',
    ]);
  });

  test.each([
    ['', ['1 -: The file is empty']],
    ['Customer', ['1 -: There are no rows below the names of the columns']],
    [
      'Modul;Type;Type\nx',
      [
        expect.stringMatching(/^1 Modul: Is not a column/),
        '1 Type: Is given more than once',
        '1 Customer: Is missing',
      ],
    ],
    ['Customer\n"open', [expect.stringMatching(/^2 -: A quotation mark is not closed/)]],
    ['sep=,\nCustomer\n"open', [expect.stringMatching(/^3 -: A quotation mark is not closed/)]],
  ])('says what is wrong with the form of %j', async (csv, problems) => {
    expect(said(await check(csv))).toEqual(problems);
  });

  test('takes a line of columns that begins with a tab', async () => {
    const { name } = await makeCustomer(api);
    expect(said(await check(`\tCustomer,Type\n${name},trial`))).toEqual([]);
  });

  test('says of a start that is no date nothing but this, where the end is empty', async () => {
    const { name } = await makeCustomer(api);
    expect(said(await check(`Customer,Valid From,Valid Until\n${name},2027-02-30,`))).toEqual([
      '2 Valid From: Must be a date such as 2027-01-31 or 31.01.2027',
    ]);
  });

  test('applies the rules of a customer to those that it creates', async () => {
    const csv = `Customer,Country\n${'L'.repeat(201)},DE`;
    const expected = [`2 Customer: ${await ruleOfLongNames()}`];
    expect(said(await check(csv, true))).toEqual(expected);
    const answer = await api.call(calls.licenses, { body: { csv, createCustomers: true } });
    expect([answer.status, answer.body.error]).toEqual([422, expected[0]!.replace('2', 'line 2,')]);
  });

  test('creates no customer whose name is the id of one that is gone', async () => {
    const { customerId } = await makeCustomer(api);
    const csv = `Customer,Country\n${customerId},DE`;
    expect(said(await check(csv, true))).toEqual([]);
    await softDelete(api, { customerId });
    await api.ok(customers.hardDelete, { params: { id: customerId } });
    const problems = ['2 Customer: There is no customer with this id'];
    for (const text of [csv, csv.toUpperCase()]) expect(said(await check(text, true))).toEqual(problems);
    const answer = await api.call(calls.licenses, { body: { csv, createCustomers: true } });
    expect([answer.status, await named(customerId)]).toEqual([422, 0]);
  });

  test('refuses a country that the customer is not in', async () => {
    const { name } = await makeCustomer(api, { country: 'DE' });
    const csv = `Customer,Country\n${name},germany\n${name},\n${name},FR\n${name},Atlantis`;
    const differs = '4 Country: Differs from the country of the customer, DE';
    expect(said(await check(csv))).toEqual([differs, '5 Country: There is no such country']);
  });

  test('compares the country of a new customer with the first line only where that has one', async () => {
    const name = unique('Clinic');
    expect(said(await check(`Customer,Country\n${name},\n${name},DE\n${name},DE`, true))).toEqual([
      '2 Country: Country of the new customer is required',
    ]);
  });

  test('ends a license that begins at a time of day at that time', async () => {
    const { name } = await makeCustomer(api);
    const { rows } = await check(`Customer,Valid From\n${name},2027-01-31T23:00:00Z`);
    expect(rows).toMatchObject([{ validUntil: '2027-03-02T23:00:00.000Z' }]);
  });

  test('finds a customer however its accents are encoded, and stores the composed form', async () => {
    const name = unique('Café Klinik');
    const { customerId } = await makeCustomer(api, { name });
    const csv = `Customer,Country\n${name.normalize('NFD')},DE`;
    const body = { csv, createCustomers: true };
    expect((await api.ok(calls.licenses, { body })).licenses[0]!.customerId).toBe(customerId);
    const old = await makeCustomer(api, { name: unique('Müller').normalize('NFD') });
    expect(said(await check(`Customer\n${old.name.normalize('NFC')}`))).toEqual([]);
    const other = unique('Zürich');
    const fresh = { csv: `Customer,Country\n${other.normalize('NFD')},CH`, createCustomers: true };
    const made = (await api.ok(calls.licenses, { body: fresh })).licenses[0]!;
    expect(made.customer?.name).toBe(other);
  });

  test('creates a customer once when two people send the file at once', async () => {
    const name = unique('Twice');
    const send = () =>
      api.call(calls.licenses, { body: { csv: `Customer,Country\n${name},DE`, createCustomers: true } });
    const answers = await Promise.all([send(), send()]);
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(await named(name)).toBe(1);
  });

  test('refuses what would do something else than was checked, as for a customer that was renamed', async () => {
    const { name, customerId } = await makeCustomer(api, { country: 'DE' });
    const file = { csv: `Customer,Country\n${name},DE`, createCustomers: true };
    const { checked } = await check(file.csv, true);
    const renamed = { name: unique('Renamed'), country: 'DE' };
    await api.ok(customers.update, { params: { id: customerId }, body: renamed });
    const answer = await api.call(calls.licenses, { body: { ...file, checked } });
    expect([answer.status, answer.body.code, await named(name)]).toEqual([409, 'WRONG_STATE', 0]);
    // another customer has the name by now
    const other = await makeCustomer(api, { name, country: 'DE' });
    expect((await api.call(calls.licenses, { body: { ...file, checked } })).status).toBe(409);
    const again = { ...file, checked: (await check(file.csv, true)).checked };
    const { licenses: made } = await api.ok(calls.licenses, { body: again });
    expect(made.map((license) => license.customerId)).toEqual([other.customerId]);
  });

  test('refuses a cell with more modules than a license may have before it looks for them', async () => {
    const { name } = await makeCustomer(api);
    const csv = `Customer,Modules\n${name},${'a|'.repeat(240_000)}`;
    expect(said(await check(csv))).toEqual(['2 Modules: Has 240000 modules; a license may have 200']);
    expect(said(await check(`Customer,Modules\n${name},x;x;mod_copd;x`))).toEqual([
      '2 Modules: There is no module x',
    ]);
  });

  test('answers at most 1,000 errors, and how many more there are', async () => {
    const csv = `Customer,Type\n${'Nobody at all,perpetual\n'.repeat(600)}`;
    const { problems, moreProblems } = await check(csv);
    expect([problems.length, moreProblems]).toEqual([1000, 200]);
    // one row whose header is wrong in every column
    const wide = await check(`Customer${',x'.repeat(200_000)}\nNobody`);
    expect([wide.problems.length, wide.moreProblems]).toEqual([1000, 199_000]);
  });

  test.each([
    [
      'rows',
      `Customer,Country${'\nx'.repeat(249_000)}`,
      ['1 -: There are 249001 lines; a file may have 10000, and 1000 rows. Split it'],
    ],
    [
      'empty rows',
      `Customer,Country${'\n,,'.repeat(160_000)}`,
      ['1 -: There are no rows below the names of the columns'],
    ],
    [
      'empty rows before another',
      `Customer,Country${'\n,,'.repeat(160_000)}\nx`,
      ['1 -: There are 160002 lines; a file may have 10000, and 1000 rows. Split it'],
    ],
  ])('holds the process up no longer for many %s', async (_, csv, problems) => {
    const before = process.cpuUsage();
    expect(said(await check(csv))).toEqual(problems);
    // in microseconds, which other programs do not lengthen
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
  });

  test('holds the process up no longer for many marks in one cell', async () => {
    const body = { csv: `Customer,Country\na${'\u0301\u0327'.repeat(60_000)},DE`, createCustomers: true };
    const before = process.cpuUsage();
    const { status, body: answer } = await api.call(calls.checkLicenses, { body });
    expect([status, answer.details[0]?.path]).toEqual([400, 'csv']);
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
  });

  test('looks for a column once, not in every row and for every column of the same name', () => {
    const csv = `${','.repeat(5000)}${'Name,'.repeat(5000)}Country\n`;
    const searched = vi.spyOn(Array.prototype, 'indexOf');
    const { problems } = readTable(csv, customerFileColumns, ['name']);
    const { lines } = readTable(
      `${','.repeat(5000)}Name,Country\n${'x\n'.repeat(1000)}`,
      customerFileColumns,
      ['name'],
    );
    const times = searched.mock.calls.length;
    searched.mockRestore();
    expect(said({ problems }).filter((one) => one.endsWith('Name: Is given more than once'))).toHaveLength(
      4999,
    );
    expect(lines).toHaveLength(1000);
    expect(times).toBeLessThan(100);
  });

  test.each([
    ['\r\n', '\n'],
    ['\n', '\r\n'],
    ['\r', '\n'],
  ])('reads lines that end with %j, then with %j', async (one, other) => {
    const { name } = await makeCustomer(api);
    const { problems, rows } = await check(`Customer${one}${name}${other}"${name}"${one}${name}${other}`);
    expect(problems).toEqual([]);
    expect(rows.map(({ line }) => line)).toEqual([2, 3, 4]);
  });

  test('needs the permissions to read and to create customers too', async () => {
    const manager = server.api(await server.signInAs('license_manager'));
    const name = unique('Unseen');
    const body = { csv: `Customer,Country\n${name},DE`, createCustomers: true };
    for (const route of [calls.checkLicenses, calls.licenses]) {
      const answer = await manager.call(route, { body });
      expect([answer.status, answer.body.error]).toEqual([403, 'You lack the permission customers:create.']);
    }
    const issuer = await signInWith(server, api, [{ resource: 'licenses', action: 'create' }]);
    const answer = await issuer.call(calls.checkLicenses, { body: { ...body, createCustomers: false } });
    expect([answer.status, answer.body.error]).toEqual([403, 'You lack the permission customers:read.']);
    expect(await named(name)).toBe(0);
  });
});

describe('importing customers', () => {
  const checkCustomers = (csv: string, skipExisting = false) =>
    api.ok(calls.checkCustomers, { body: { csv, skipExisting } });

  test('knows countries by their names, however spelled, and takes no other text for a code', async () => {
    const texts = ['Bosnia and Herzegovina', "Cote d'Ivoire", 'TURKIYE', 'St Lucia', 'na', 'U.K.', 'N/A'];
    const csv = ['Name,Country', ...texts.map((text, n) => `${unique('Clinic')} ${n},${text}`)].join('\n');
    const { rows, problems } = await checkCustomers(csv);
    expect(rows.map(({ country }) => country)).toEqual(['BA', 'CI', 'TR', 'LC', 'NA', 'GB']);
    expect(problems.map(({ line }) => line)).toEqual([8]);
  });

  test('names every error, and skips those that exist on request', async () => {
    const { name } = await makeCustomer(api);
    const [one, two] = [unique('Import <b>'), unique('مستشفى')];
    const csv = [
      'Company Name,Country,Email,Phone',
      `${one},DE,it@one.example,1`,
      `${two},united states,,`,
      `${name},DE,,`,
    ].join('\r\n');
    const bad = `${csv}\r\n${one.toUpperCase().replace(' ', '\u00a0')},XX,nobody,\r\n,DE,,\r\nA,DE,,,,`;
    expect(said(await checkCustomers(bad))).toEqual([
      '4 Company Name: A customer with this name exists',
      '5 Email: Must be an email address',
      '5 Country: Must be a two-letter country code or an English name',
      '5 Company Name: Has the same name as line 2',
      '6 Company Name: Company Name is required',
      '7 -: Has more cells than there are columns. Put a cell with a separator in quotes',
    ]);
    const refused = await api.call(calls.customers, { body: { csv, skipExisting: false } });
    expect([refused.status, await named(one)]).toEqual([422, 0]);
    const skipped = `${csv}\r\n${name},Nowhere,nobody,`;
    const preview = await checkCustomers(skipped, true);
    expect([preview.problems, preview.names]).toEqual([[], [name, name]]);
    expect(preview.rows.map(({ country }) => country)).toEqual(['DE', 'US']);
    expect(await api.ok(calls.customers, { body: { csv, skipExisting: true } })).toEqual({ customers: 2 });
    expect([await named(one), await named(two), await named(name)]).toEqual([1, 1, 1]);
    expect(await api.ok(calls.customers, { body: { csv, skipExisting: true } })).toEqual({ customers: 0 });
  });

  test('skips no customer that is only among the soft-deleted', async () => {
    const gone = await makeCustomer(api);
    await softDelete(api, gone);
    for (const skip of [false, true]) {
      const { problems, names } = await checkCustomers(`Company Name,Country\n${gone.name},DE`, skip);
      expect([said({ problems }), names]).toEqual([['2 Company Name: Customer is soft-deleted'], []]);
    }
    await makeCustomer(api, { name: gone.name });
    expect((await checkCustomers(`Company Name,Country\n${gone.name},DE`, true)).names).toEqual([gone.name]);
  });

  test('skips no customer that was to be created when it was checked', async () => {
    const [one, two] = [unique('Created since'), unique('Other')];
    const file = { csv: `Company Name,Country\n${one},DE\n${two},DE`, skipExisting: true };
    const { checked } = await checkCustomers(file.csv, true);
    await makeCustomer(api, { name: one });
    expect((await api.call(calls.customers, { body: { ...file, checked } })).status).toBe(409);
    expect(await named(two)).toBe(0);
    const again = { ...file, checked: (await checkCustomers(file.csv, true)).checked };
    expect(await api.ok(calls.customers, { body: again })).toEqual({ customers: 1 });
  });

  test('takes back the cells and the name column of an export as they were', async () => {
    const name = unique('=Sum');
    const csv = `Name,Contact Name,Phone,Country\n'${name},'@home,'+49 30 1234,DE\n'Quoted' ${name},,,DE`;
    const { problems, rows } = await checkCustomers(csv);
    expect(problems).toEqual([]);
    expect(rows).toEqual([
      { line: 2, name, contactName: '@home', phone: '+49 30 1234', email: null, country: 'DE' },
      { line: 3, name: `'Quoted' ${name}`, contactName: null, phone: null, email: null, country: 'DE' },
    ]);
    expect(said(await checkCustomers(`Name,Company Name,Country\na,b,DE`))).toEqual([
      '1 Company Name: Is given more than once',
    ]);
  });

  test('writes no cell that is a formula where a spreadsheet separates by semicolons within quotes', () => {
    const csv = csvText([{}], { Name: () => 'A', Note: () => 'x;"=cmd"', Last: () => 'y;\'"@z' });
    const line = parse(csv, { delimiter: ';', relax_quotes: true, relax_column_count: true, from_line: 2 });
    expect(line.flat().filter((cell) => /^"*[=@]/.test(cell))).toEqual([]);
  });

  test('takes back every text that an export escapes', () => {
    const texts = fc.string({
      unit: fc.constantFrom("'", '"', ';', '=', '+', '-', '@', '＝', '\t', '\r', '\n', 'a'),
    });
    fc.assert(fc.property(texts, (text) => withFormulas(withoutFormulas(text)) === text));
  });

  test('takes one name in two encodings for the same', async () => {
    const name = unique('Café');
    await makeCustomer(api, { name });
    expect((await checkCustomers(`Company Name,Country\n${name.normalize('NFD')},DE`, true)).names).toEqual([
      name,
    ]);
  });

  test('creates a customer once when two people send the file at once', async () => {
    const fresh = unique('Both');
    const body = { csv: `Company Name,Country\n${fresh},DE`, skipExisting: false };
    const send = () => api.call(calls.customers, { body });
    const answers = await Promise.all([send(), send()]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 422]);
    expect(await named(fresh)).toBe(1);
  });
});
