import { getRouteApi } from '@tanstack/react-router';
import type { ApiKeyAttention } from '../../../contract/api-keys.ts';
import { apiKeyAttentions } from '../../../contract/list-words.ts';
import { textParam, wordParam } from '../../search-params.ts';
import { useSearch } from '../../use-search.ts';

/** Search parameters of the screen: the open dialog, and its key. */
type ApiKeysSearch = {
  /** `edit` edits `key`; `key` alone shows its details. */
  dialog?: 'create' | 'edit' | undefined;
  key?: string | undefined;
  /** Only keys that need somebody for this reason. */
  attention?: ApiKeyAttention | undefined;
};

export const apiKeysSearch = (params: Record<string, unknown>): ApiKeysSearch => {
  const key = textParam(params, 'key');
  const attention = wordParam(params, 'attention', apiKeyAttentions);
  const { dialog } = params;
  if (dialog === 'create') return { dialog, key: undefined, attention };
  return { dialog: dialog === 'edit' && key ? 'edit' : undefined, key, attention };
};

const route = getRouteApi('/signed-in/api-keys');
export const useApiKeysSearch = () => useSearch<ApiKeysSearch>(route, { dialogs: ['dialog', 'key'] });
