import { licenseCan, licenseTab, type License } from '../../../contract/licenses.ts';
import { paths } from '../../paths.ts';
import type { PaletteSource } from '../../shell/palette-sources.ts';
import { ownerText, stateBadges } from './license-words.ts';
import { findLicenses } from './licenses.ts';

const found = 4;

/** Licenses in the command palette: found by key, customer or module, and ways to create one. */
export const licensesPalette: PaletteSource = {
  group: 'Licenses',
  resource: 'licenses',
  actions: [
    {
      id: 'licenses create',
      label: 'Create License',
      to: paths.licenses,
      search: { dialog: 'create' },
      action: 'create',
    },
    { id: 'licenses new', label: 'Open the New License page', to: paths.newLicense, action: 'create' },
  ],
  find: async (text, signal) => {
    const { data } = await findLicenses(text, found, signal);
    return data.flatMap(itemsOf);
  },
};

function itemsOf(license: License) {
  const { licenseId, licenseKey } = license;
  const tab = licenseTab(license, new Date());
  const about = `${ownerText(license.customer)} · ${stateBadges[tab].word}`;
  const here = { tab, search: licenseKey };
  return [
    {
      id: `license activations ${licenseId}`,
      label: licenseKey,
      description: `Activations · ${about}`,
      to: paths.licenses,
      search: { ...here, activations: licenseKey },
    },
    {
      id: `license edit ${licenseId}`,
      label: `${licenseCan.update(license) ? 'View' : 'Edit'} ${licenseKey}`,
      description: about,
      to: paths.licenses,
      search: { ...here, edit: licenseId },
    },
  ];
}
