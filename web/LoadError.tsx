import { useEffect, type ReactNode } from 'react';
import { capitalize } from '../contract/text.ts';
import { ApiError, messageOf, sentenceOf } from './api-error.ts';
import { dropKeptWork } from './kept-work.ts';
import { ErrorState } from './ui/states.tsx';
import { ToneAlert } from './ui/ToneAlert.tsx';

type Props = {
  title: string;
  query: { error: unknown; refetch: () => unknown };
  /** Instead of the message of the error; empty if the title has it. */
  message?: string;
  /** Only what the server said, without details. */
  brief?: boolean;
  retryLabel?: string;
  /** What the query loads by its id, such as `customer`: where there is none, trying again would not help. */
  record?: string;
  whyMissing?: string;
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
  const { query, brief, record, whyMissing, ...texts } = props;
  // a text that is no id at all is refused as a bad request, and names no record either
  const { status, code } = query.error instanceof ApiError ? query.error : {};
  if (record && (status === 404 || code === 'INVALID_INPUT'))
    return <Missing record={record} why={whyMissing} />;
  const { message = brief ? sentenceOf(query.error, texts.title) : messageOf(query.error) } = texts;
  // the title is what is said where the server says nothing
  const beneath = message === texts.title ? '' : message;
  const requestId = query.error instanceof ApiError ? query.error.requestId : undefined;
  return (
    <ErrorState {...texts} message={beneath} requestId={requestId} onRetry={() => void query.refetch()} />
  );
}

/** Above a record that is still shown: a colleague deleted it since. What was typed into its forms stays. */
export function Gone({ query: { error } }: { query: { error: unknown } }) {
  if (!(error instanceof ApiError) || error.status !== 404) return null;
  return <ToneAlert tone="red">{messageOf(error)}</ToneAlert>;
}

/** There is no such record. */
export function Missing(props: { record: string; why?: string | undefined }) {
  useEffect(dropKeptWork, []);
  return (
    <ErrorState
      title={`${capitalize(props.record)} not found`}
      message={props.why ?? 'It may have been deleted, or the link is not complete.'}
    />
  );
}
