import { ApiError, messageOf } from './api-error.ts';
import { ErrorState } from './ui/states.tsx';

/** Replaces what a query could not load: the reason, the id of the request, and a button that tries again. */
export function LoadError(props: {
  title: string;
  query: { error: unknown; refetch: () => unknown };
  /** Instead of the message of the error; empty if the title has it. */
  message?: string;
  retryLabel?: string;
}) {
  const { query, message = messageOf(query.error), ...texts } = props;
  const requestId = query.error instanceof ApiError ? query.error.requestId : undefined;
  return (
    <ErrorState {...texts} message={message} requestId={requestId} onRetry={() => void query.refetch()} />
  );
}
