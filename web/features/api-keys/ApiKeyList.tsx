import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ApiKey } from '../../../contract/api-keys.ts';
import { messageOf } from '../../api-error.ts';
import { useAuth } from '../../session.tsx';
import { DataTable } from '../../ui/DataTable.tsx';
import { ErrorText } from '../../ui/ErrorText.tsx';
import { EmptyState, ErrorState } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { useNow } from '../../ui/use-now.ts';
import { useChange } from '../../use-change.ts';
import { apiKeyActions, apiKeyColumns } from './api-key-columns.tsx';
import { revokeQuestion } from './api-key-labels.ts';
import { apiKeyImpact, apiKeyListQuery, revokeApiKey } from './queries.ts';
import { useApiKeysSearch } from './api-keys-search.ts';
import { aboutApiKey } from '../../toast-subjects.ts';

/** The table of keys; figures that could not be refreshed stay, and the list says so. */
export function ApiKeyList() {
  const { change } = useApiKeysSearch();
  const { can } = useAuth();
  const list = useQuery(apiKeyListQuery);
  const revoke = useRevoke();
  const now = useNow();
  const handlers = {
    onView: ({ id }: ApiKey) => change({ key: id }),
    onEdit: can.updateApiKeys ? ({ id }: ApiKey) => change({ dialog: 'edit', key: id }) : undefined,
    onRevoke: can.deleteApiKeys ? revoke : undefined,
  };
  const failure = list.error && `Error loading API keys: ${messageOf(list.error)}`;
  if (failure && !list.data) return <ErrorState title={failure} onRetry={() => void list.refetch()} />;
  return (
    <>
      {failure && <ErrorText>{failure}</ErrorText>}
      <DataTable
        label="API keys"
        columns={apiKeyColumns(now)}
        rows={list.data}
        rowId={(key) => key.id}
        rowLabel={(key) => key.name}
        actions={(key) => apiKeyActions(key, handlers)}
        empty={
          <EmptyState
            title="No API keys found"
            action={
              can.createApiKeys && (
                <Button onClick={() => change({ dialog: 'create' })}>Create API Key</Button>
              )
            }
          >
            Create your first API key to get started
          </EmptyState>
        }
      />
    </>
  );
}

/** The spec wants the browser's `confirm`, whose text cannot change once open, so the numbers are loaded first. */
function useRevoke() {
  const revoke = useChange({
    mutationFn: ({ id }: ApiKey) => revokeApiKey(id),
    onSuccess: (_, key) =>
      void toast({ message: `API key "${key.name}" revoked`, subject: aboutApiKey(key) }),
    onError: (error, key) =>
      void toast({
        tone: 'red',
        message: `API key "${key.name}" was not revoked: ${messageOf(error)}`,
        subject: aboutApiKey(key),
      }),
  });
  const ask = useChange({
    mutationFn: async (key: ApiKey) => ({ key, impact: await apiKeyImpact(key.id) }),
    onSuccess: ({ key, impact }) => {
      if (window.confirm(revokeQuestion(key, impact))) revoke.mutate(key);
    },
  });
  return (key: ApiKey) => {
    if (!ask.isPending) ask.mutate(key);
  };
}
