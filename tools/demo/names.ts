import type { Random } from './random.ts';

type Country = {
  code: string;
  cities: string[];
  houses: string[];
  first: string[];
  last: string[];
  phone: string;
};

/** Countries of the demo's customers, with typical names of hospitals and people. */
const countries: Country[] = [
  {
    code: 'DE',
    cities: ['Berlin', 'München', 'Hamburg', 'Köln', 'Leipzig', 'Freiburg'],
    houses: [
      'Klinikum {}',
      'St.-Josef-Krankenhaus {}',
      'Universitätsklinikum {}',
      'Radiologie {} Mitte',
      'Institut für Pathologie {}',
    ],
    first: ['Anna', 'Jonas', 'Katrin', 'Markus'],
    last: ['Weber', 'Schäfer', 'Vogel', 'Brandt'],
    phone: '+49 30',
  },
  {
    code: 'FR',
    cities: ['Paris', 'Lyon', 'Nantes', 'Toulouse', 'Lille'],
    houses: ['Hôpital Saint-Louis {}', 'CHU de {}', 'Clinique du Parc {}', 'Laboratoire Pasteur {}'],
    first: ['Camille', 'Luc', 'Élise', 'Hugo'],
    last: ['Moreau', 'Lefèvre', 'Girard', 'Roux'],
    phone: '+33 1',
  },
  {
    code: 'US',
    cities: ['Boston', 'Denver', 'Austin', 'Seattle', 'Cleveland', 'Tampa'],
    houses: [
      '{} General Hospital',
      'St. Mary’s Medical Center {}',
      '{} Imaging Associates',
      '{} Pathology Group',
      'Northside Clinic {}',
    ],
    first: ['Dana', 'Marcus', 'Priya', 'Ellen'],
    last: ['Ruiz', 'Carter', 'Nguyen', 'Walsh'],
    phone: '+1 617',
  },
  {
    code: 'GB',
    cities: ['Leeds', 'Bristol', 'Oxford', 'Cardiff'],
    houses: ['{} Royal Infirmary', 'Queen Elizabeth Hospital {}', '{} Diagnostics'],
    first: ['Olivia', 'Harry', 'Imogen'],
    last: ['Bennett', 'Hughes', 'Clarke'],
    phone: '+44 20',
  },
  {
    code: 'JP',
    cities: ['Osaka', 'Kyoto', 'Sapporo', 'Fukuoka'],
    houses: ['{} Medical Center', '{} University Hospital', '{} Red Cross Hospital'],
    first: ['Yuki', 'Haruto', 'Aiko'],
    last: ['Tanaka', 'Sato', 'Mori'],
    phone: '+81 6',
  },
  {
    code: 'SE',
    cities: ['Stockholm', 'Uppsala', 'Lund'],
    houses: ['Karolinska {}', 'Akademiska sjukhuset {}', '{} Patologi'],
    first: ['Elin', 'Oskar', 'Maja'],
    last: ['Lindqvist', 'Ek', 'Åberg'],
    phone: '+46 8',
  },
  {
    code: 'CL',
    cities: ['Santiago', 'Valparaíso', 'Concepción'],
    houses: ['Clínica Alemana {}', 'Hospital Regional {}', 'Laboratorio Andes {}'],
    first: ['Valentina', 'Matías'],
    last: ['Muñoz', 'Soto'],
    phone: '+56 2',
  },
  {
    code: 'IN',
    cities: ['Pune', 'Chennai', 'Jaipur', 'Kochi'],
    houses: ['{} Institute of Oncology', 'Lotus Hospital {}', '{} Diagnostics'],
    first: ['Ananya', 'Rohan', 'Meera'],
    last: ['Iyer', 'Kulkarni', 'Nair'],
    phone: '+91 20',
  },
];

const ascii = (text: string) =>
  text
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll('ø', 'o')
    .toLowerCase()
    .replaceAll(/[^a-z]+/g, '');

/** Distinguishes hospitals of the same name in one city. */
const quarters =
  'North, South, East, West, Old Town, Harbor, Riverside, Hillside, Station, University, Park, Lakeside'.split(
    ', ',
  );

/** A customer as entered by staff, with some fields left out. Names are unique. */
export function makeCustomer(random: Random, taken: Set<string>) {
  const country = random.pick(countries);
  const city = random.pick(country.cities);
  const base = random.pick(country.houses).replace('{}', city);
  let name = base;
  while (taken.has(name)) name = `${name}, ${random.pick(quarters)}`;
  taken.add(name);
  const [first, last] = [random.pick(country.first), random.pick(country.last)];
  const email = `${ascii(first)}.${ascii(last)}@${ascii(name).slice(0, 20)}.example`;
  return {
    name,
    contactName: random.chance(0.9) ? `${first} ${last}` : null,
    email: random.chance(0.95) ? email : null,
    phone: random.chance(0.6)
      ? `${country.phone} ${random.whole(200, 999)} ${random.whole(1000, 9999)}`
      : null,
    country: country.code,
  };
}

/** The staff of the vendor, one or two in every role. */
export const staff = [
  { role: 'super_admin', name: 'Ingrid Solberg' },
  { role: 'admin', name: 'Tomás Herrera' },
  { role: 'license_manager', name: 'Dana Ruiz' },
  { role: 'license_manager', name: 'Wei Zhang' },
  { role: 'binary_manager', name: 'Noah Fischer' },
  { role: 'support_agent', name: 'Leila Haddad' },
  { role: 'support_agent', name: 'Sam Okafor' },
  { role: 'viewer', name: 'Grace Liu' },
  { role: 'service_account', name: 'Desktop Fleet' },
] as const;

/** `dana.ruiz@lanyard.example` */
export const staffEmail = (name: string) => `${name.split(' ').map(ascii).join('.')}@lanyard.example`;
