/**
 * ISO 3166 codes of the 193 members and two observers of the United Nations, plus Taiwan and Kosovo (user-assigned XK).
 * English names come from the runtime's own data.
 */
export const countryCodes = (
  'AD AE AF AG AL AM AO AR AT AU AZ BA BB BD BE BF BG BH BI BJ BN BO BR BS BT BW BY BZ CA CD CF CG CH CI CL CM ' +
  'CN CO CR CU CV CY CZ DE DJ DK DM DO DZ EC EE EG ER ES ET FI FJ FM FR GA GB GD GE GH GM GN GQ GR GT GW GY HN ' +
  'HR HT HU ID IE IL IN IQ IR IS IT JM JO JP KE KG KH KI KM KN KP KR KW KZ LA LB LC LI LK LR LS LT LU LV LY MA ' +
  'MC MD ME MG MH MK ML MM MN MR MT MU MV MW MX MY MZ NA NE NG NI NL NO NP NR NZ OM PA PE PG PH PK PL PS PT PW ' +
  'PY QA RO RS RU RW SA SB SC SD SE SG SI SK SL SM SN SO SR SS ST SV SY SZ TD TG TH TJ TL TM TN TO TR TT TV TW ' +
  'TZ UA UG US UY UZ VA VC VE VN VU WS XK YE ZA ZM ZW'
).split(' ');

const known = new Set(countryCodes);
const names = new Intl.DisplayNames(['en'], { type: 'region' });

/** True for a two-letter code of the list, in upper case. */
export const isCountryCode = (code: string): boolean => known.has(code);

/** The English name of a country; an unknown code is returned unchanged. */
export function countryName(code: string): string {
  return isCountryCode(code) ? (names.of(code) ?? code) : code;
}

/** Other names that people write. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  AE: ['UAE'],
  CD: ['DR Congo', 'DRC', 'Democratic Republic of the Congo'],
  CG: ['Republic of the Congo'],
  CI: ['Ivory Coast'],
  CV: ['Cabo Verde'],
  CZ: ['Czech Republic'],
  GB: ['UK', 'Great Britain', 'Britain', 'England', 'Scotland', 'Wales', 'Northern Ireland'],
  KN: ['Saint Kitts and Nevis'],
  KP: ['DPRK'],
  KR: ['Korea', 'Republic of Korea'],
  LC: ['Saint Lucia'],
  MK: ['Macedonia'],
  MM: ['Myanmar', 'Burma'],
  NL: ['The Netherlands', 'Holland'],
  PS: ['Palestine'],
  RU: ['Russian Federation'],
  SZ: ['Swaziland'],
  TL: ['East Timor'],
  TR: ['Turkey'],
  US: ['USA', 'United States of America', 'America'],
  VA: ['Holy See'],
  VC: ['Saint Vincent and the Grenadines'],
};

/** Code and English name of every country, sorted by name, and what else it is called. */
export const countries: readonly { code: string; name: string; also: readonly string[] }[] = countryCodes
  .map((code) => {
    return { code, name: countryName(code), also: otherNames[code] ?? [] };
  })
  .toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
