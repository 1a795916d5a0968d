import { Modal } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { messageOf } from '../../api-error.ts';
import { ErrorText } from '../../ui/ErrorText.tsx';
import { ApiKeyDetails } from './ApiKeyDetails.tsx';
import { whyFinal } from './api-key-words.ts';
import { apiKeyListQuery } from './api-keys.ts';
import { EditApiKey, Loading } from './EditApiKey.tsx';

/** Details of a key, or with `edits` the fields to change; a key that was revoked is only shown. */
export default function ApiKeyModal(props: {
  id: string;
  edits: boolean;
  onEdit: () => void;
  onClose: () => void;
}) {
  const list = useQuery(apiKeyListQuery);
  const apiKey = list.data?.find(({ id }) => id === props.id);
  const [conflicting, setConflicting] = useState(false);
  const edits = props.edits && apiKey !== undefined && whyFinal(apiKey) === null;
  return (
    <Modal
      opened
      onClose={props.onClose}
      // Escape answers the question about the conflict first.
      closeOnEscape={!(edits && conflicting)}
      title={edits ? 'Edit API Key' : 'API Key Details'}
      size={480}
    >
      {!apiKey ? (
        <Missing error={list.error} isLoading={list.isPending} />
      ) : edits ? (
        <EditApiKey id={props.id} onConflict={setConflicting} onClose={props.onClose} />
      ) : (
        <ApiKeyDetails apiKey={apiKey} onEdit={props.onEdit} onClose={props.onClose} />
      )}
    </Modal>
  );
}

function Missing({ error, isLoading }: { error: Error | null; isLoading: boolean }) {
  if (error) return <ErrorText>{`Error loading API keys: ${messageOf(error)}`}</ErrorText>;
  return isLoading ? <Loading /> : <ErrorText>There is no such API key.</ErrorText>;
}
