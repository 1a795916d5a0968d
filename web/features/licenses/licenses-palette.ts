import type { License } from '../../../contract/licenses.ts';
import { licensePath, paths } from '../../paths.ts';
import { mostFound, type PaletteSource } from '../../shell/palette-sources.ts';
import { IconLicense } from '../../ui/icons.tsx';
import { readDay } from '../../ui/typed-day.ts';
import { ownerText, stateBadge } from './license-labels.ts';
import { findLicenses } from './queries.ts';

/** Licenses in the command palette: found by key, customer, module or machine, and commands to create one. */
const licensesPalette: PaletteSource = {
  group: 'Licenses',
  icon: IconLicense,
  resource: 'licenses',
  list: (text) => ({ to: paths.licenses, search: { search: readDay(text) } }),
  creates: [
    { id: 'licenses create', label: 'Create License', to: paths.licenses, search: { dialog: 'create' } },
    { id: 'licenses new', label: 'Open the New License page', to: paths.newLicense },
  ],
  find: async (text, signal) => {
    const { data } = await findLicenses(text, mostFound, signal);
    return data.map(itemOf);
  },
};
export default licensesPalette;

function itemOf(license: License) {
  const { licenseId, licenseKey, customer } = license;
  return {
    id: `license ${licenseId}`,
    label: licenseKey,
    description: `${ownerText(customer)} · ${stateBadge(license, new Date()).word}`,
    to: licensePath(licenseId),
  };
}
