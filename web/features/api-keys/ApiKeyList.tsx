import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ApiKey, ApiKeyAttention } from '../../../contract/api-keys.ts';
import { messageOf, refusalOf } from '../../api-error.ts';
import { LoadError } from '../../LoadError.tsx';
import { useAuth } from '../../session.tsx';
import { DataTable } from '../../ui/DataTable.tsx';
import { FilterNote } from '../../ui/FilterNote.tsx';
import { ErrorText } from '../../ui/ErrorText.tsx';
import { isDialogOpen } from '../../ui/open-dialogs.ts';
import { EmptyState } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { useNow } from '../../ui/use-now.ts';
import { useChange } from '../../use-change.ts';
import { apiKeyActions, apiKeyColumns } from './api-key-columns.tsx';
import { revokeQuestion } from './api-key-labels.ts';
import { apiKeyImpact, apiKeyListQuery, revokeApiKey } from './queries.ts';
import { useApiKeysSearch } from './api-keys-search.ts';
import { aboutApiKey } from '../../toast-subjects.ts';

const attentionNotes: Record<ApiKeyAttention, string> = {
  ending: 'Only keys that expire within 30 days',
  refused: 'Only keys that were refused within 24 hours',
  limited: 'Only keys that reached a limit in this hour or the one before',
};

/** The table of keys; figures that could not be refreshed stay, and the list says so. */
export function ApiKeyList() {
  const { search, change } = useApiKeysSearch();
  const { attention } = search;
  const { can } = useAuth();
  const list = useQuery(apiKeyListQuery(attention));
  const revoke = useRevoke();
  const now = useNow();
  const handlers = {
    onView: ({ id }: ApiKey) => change({ key: id }),
    onEdit: can.updateApiKeys ? ({ id }: ApiKey) => change({ dialog: 'edit', key: id }) : undefined,
    onRevoke: can.deleteApiKeys ? revoke : undefined,
  };
  const failure = list.error && `Error loading API keys: ${messageOf(list.error)}`;
  if (failure && !list.data) return <LoadError title={failure} message="" query={list} />;
  return (
    <>
      {failure && <ErrorText>{failure}</ErrorText>}
      {attention && (
        <FilterNote onClear={() => change({ attention: undefined })}>{attentionNotes[attention]}</FilterNote>
      )}
      <DataTable
        label="API keys"
        columns={apiKeyColumns(now)}
        rows={list.data}
        rowId={(key) => key.id}
        rowLabel={(key) => key.name}
        actions={(key) => apiKeyActions(key, handlers)}
        empty={
          attention ? (
            <EmptyState title="No API keys found" onClear={() => change({ attention: undefined })}>
              No key needs anybody for this reason now.
            </EmptyState>
          ) : (
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
          )
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
        message: refusalOf(`API key "${key.name}" was not revoked`, error),
        subject: aboutApiKey(key),
      }),
  });
  const count = useChange({ mutationFn: ({ id }: ApiKey) => apiKeyImpact(id) });
  const ask = (key: ApiKey, impact: Awaited<ReturnType<typeof apiKeyImpact>>) => {
    // The next key is meant for what was opened since, and Enter would revoke.
    if (isDialogOpen()) return;
    if (window.confirm(revokeQuestion(key, impact))) revoke.mutate(key);
  };
  return (key: ApiKey) => {
    // Does not ask once the screen was left.
    if (!count.isPending) count.mutate(key, { onSuccess: (impact) => ask(key, impact) });
  };
}
