import { paths } from '../../paths.ts';
import { mostFound, type PaletteSource } from '../../shell/palette-sources.ts';
import { IconKey } from '../../ui/icons.tsx';
import { findApiKeys } from './queries.ts';

/** API keys in the command palette: found by name or prefix, and a command to create one. */
const apiKeysPalette: PaletteSource = {
  group: 'API Keys',
  icon: IconKey,
  resource: 'api_keys',
  creates: [
    { id: 'api-keys create', label: 'Create API Key', to: paths.apiKeys, search: { dialog: 'create' } },
  ],
  find: async (text, signal) => {
    const keys = await findApiKeys(text, signal);
    return keys.slice(0, mostFound).map((key) => ({
      id: `api-key ${key.id}`,
      label: key.name,
      description: key.keyPrefix,
      to: paths.apiKeys,
      search: { key: key.id },
    }));
  },
};
export default apiKeysPalette;
