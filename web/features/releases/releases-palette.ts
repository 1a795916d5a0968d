import type { Release } from '../../../contract/releases.ts';
import { paths, releasePath } from '../../paths.ts';
import { mostFound, type PaletteSource } from '../../shell/palette-sources.ts';
import { IconPackage } from '../../ui/icons.tsx';
import { platformText } from '../../platform-text.ts';
import { findReleases } from './queries.ts';

/** Releases in the command palette: found by version or notes, and a command to upload one. */
const releasesPalette: PaletteSource = {
  group: 'Releases',
  icon: IconPackage,
  resource: 'releases',
  list: (search) => ({ to: paths.releases, search: { search, inactive: '1' } }),
  creates: [
    { id: 'releases create', label: 'New Release', to: paths.releases, search: { dialog: 'create' } },
  ],
  find: async (text, signal) => {
    const { data } = await findReleases(text, mostFound, signal);
    return data.map((release) => ({
      id: `release ${release.id}`,
      label: `Version ${release.version}`,
      description: aboutOf(release),
      to: releasePath(release.id),
    }));
  },
};
export default releasesPalette;

const aboutOf = ({ channel, platform, architecture, isDraft, isActive }: Release) =>
  [channel, platformText(platform, architecture), isDraft && 'Draft', !isActive && 'Inactive']
    .filter(Boolean)
    .join(' · ');
