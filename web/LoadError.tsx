import type { ReactNode } from 'react';
import { ApiError, messageOf, sentenceOf } from './api-error.ts';
import { ErrorState } from './ui/states.tsx';

type Props = {
  title: string;
  query: { error: unknown; refetch: () => unknown };
  /** Instead of the message of the error; empty if the title has it. */
  message?: string;
  /** Only what the server said, without details. */
  brief?: boolean;
  retryLabel?: string;
};

/** What a query loads, or that it could not be loaded. */
export function Loaded({
  children,
  ...props
}: Props & { query: { isLoadingError: boolean }; children: ReactNode }) {
  return props.query.isLoadingError ? <LoadError {...props} /> : children;
}

/** Replaces what a query could not load: the reason, the id of the request, and a button that tries again. */
export function LoadError(props: Props) {
  const { query, brief, ...texts } = props;
  const { message = brief ? sentenceOf(query.error, texts.title) : messageOf(query.error) } = texts;
  // the title is what is said where the server says nothing
  const beneath = message === texts.title ? '' : message;
  const requestId = query.error instanceof ApiError ? query.error.requestId : undefined;
  return (
    <ErrorState {...texts} message={beneath} requestId={requestId} onRetry={() => void query.refetch()} />
  );
}
