import { useQuery } from '@tanstack/react-query';
import { messageOf } from '../../api-error.ts';
import { Missing } from '../../LoadError.tsx';
import { useBegun } from '../../kept-work.ts';
import { Dialog } from '../../ui/Dialog.tsx';
import { ErrorText } from '../../ui/ErrorText.tsx';
import { ApiKeyDetails } from './ApiKeyDetails.tsx';
import { whyFinal } from './api-key-labels.ts';
import { apiKeyListQuery } from './queries.ts';
import { EditApiKey, Loading } from './EditApiKey.tsx';

/** Details of a key, or its edit form when `edits` is set; a revoked key is read-only. */
export default function ApiKeyModal(props: {
  id: string;
  edits: boolean;
  onEdit: () => void;
  onClose: () => void;
}) {
  const list = useQuery(apiKeyListQuery());
  const apiKey = list.data?.find(({ id }) => id === props.id);
  const mayEdit = props.edits && apiKey !== undefined && whyFinal(apiKey) === null;
  const edits = useBegun(props.id, mayEdit) && props.edits;
  return (
    <Dialog
      title={edits ? 'Edit API Key' : 'API Key Details'}
      subject={apiKey?.name}
      size={480}
      onClose={props.onClose}
    >
      {!apiKey ? (
        <Absent error={list.error} isLoading={list.isPending} />
      ) : edits ? (
        <EditApiKey id={props.id} onClose={props.onClose} />
      ) : (
        <ApiKeyDetails apiKey={apiKey} onEdit={props.onEdit} onClose={props.onClose} />
      )}
    </Dialog>
  );
}

function Absent({ error, isLoading }: { error: Error | null; isLoading: boolean }) {
  if (error) return <ErrorText>{`Error loading API keys: ${messageOf(error)}`}</ErrorText>;
  return isLoading ? <Loading /> : <Missing record="API key" />;
}
