import { messageOf } from './api-error.ts';
import { ErrorState } from './ui/states.tsx';

/** Replaces what a query could not load: the reason, and a button that tries again. */
export function LoadError(props: {
  title: string;
  query: { error: unknown; refetch: () => unknown };
  message?: string;
  retryLabel?: string;
}) {
  const { query, message = messageOf(query.error), ...texts } = props;
  return <ErrorState {...texts} message={message} onRetry={() => void query.refetch()} />;
}
