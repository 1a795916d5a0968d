import { expect, test } from 'vitest';
import { distinct } from './distinct-customers.ts';

const made = (end: string, name: string, country: string, email: string | null = null) => ({
  customerId: `019ac0de-0000-7000-8000-${end}`,
  name,
  country,
  email,
});

test('customers of one name have labels of their own, whatever its case and accents', () => {
  const labels = distinct([
    made('000000000001', 'Charité', 'DE'),
    made('000000000002', "St. Mary's Hospital", 'GB', 'it@marys.example'),
    made('000000000003', "St. Mary's hospital", 'GB'),
    made('000000000004', "ST. MARY'S HOSPITAL", 'GB'),
    made('000000000005', "St. Mary's Hospital", 'IE'),
    made('000000000006', "St. Máry's Hospital", 'FR'),
  ]).map(({ label }) => label);
  expect(labels).toEqual([
    'Charité',
    "St. Mary's Hospital · United Kingdom · it@marys.example",
    "St. Mary's hospital · United Kingdom · 000000000003",
    "ST. MARY'S HOSPITAL · United Kingdom · 000000000004",
    "St. Mary's Hospital · Ireland",
    "St. Máry's Hospital · France",
  ]);
});
