import { expect, test } from 'vitest';
import { chartCsv } from './export-chart.ts';

test('quotes what needs quotes and keeps formulas from being run', () => {
  const csv = chartCsv({
    columns: ['Customer', 'Machines'],
    rows: [
      ['St. Mary, "North"', 3],
      ['=1+1;-2', 4],
      ['North;"=1', 5],
    ],
  });
  expect(csv).toBe(
    '\uFEFFCustomer,Machines\r\n"St. Mary, ""North""",3\r\n\'=1+1;\'-2,4\r\n"North;\'""=1",5\r\n',
  );
});
