import { Alert, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { TryAgain } from './ErrorText.tsx';

/** Sentences that say in numbers whom else a change affects. */
type Sentences = readonly string[];

/**
 * The consequences in a confirmation: the sentences, or the query that counts them. A change that affects no one else has
 * this text.
 */
export type Consequences = 'affects nobody else' | Sentences | CountedConsequences;

/** From `useQuery`. */
type CountedConsequences = { data: Sentences | undefined; isError: boolean; refetch: () => unknown };

/** How long a confirmation waits for the numbers, in milliseconds; an unresponsive service must not block it. */
const patience = 3000;

/** Whether to wait for the numbers: from when they are asked for, which a form may do later, and more than once. */
export function useIsCounting(consequences: Consequences): boolean {
  const [waitedEnough, setWaitedEnough] = useState(false);
  const counting = isQuery(consequences) && !consequences.data && !consequences.isError;
  useEffect(() => {
    if (!counting) return;
    const timer = setTimeout(() => setWaitedEnough(true), patience);
    return () => {
      clearTimeout(timer);
      setWaitedEnough(false);
    };
  }, [counting]);
  return counting && !waitedEnough;
}

/** The consequences below the question of a confirmation: counted, being counted, or why they are not known. */
export function ConsequenceList({ of: consequences }: { of: Consequences }) {
  if (consequences === 'affects nobody else') return null;
  const sentences = isQuery(consequences) ? consequences.data : consequences;
  return (
    <Alert
      variant="light"
      color="gray"
      role="group"
      aria-label="Consequences"
      styles={{ message: { color: 'var(--mantine-color-text)' } }}
    >
      <div role="status">
        {isQuery(consequences) && !sentences ? (
          <Uncounted query={consequences} />
        ) : (
          <ul style={{ margin: 0, paddingInlineStart: 18, overflowWrap: 'anywhere' }}>
            {sentences?.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        )}
      </div>
    </Alert>
  );
}

function Uncounted({ query }: { query: CountedConsequences }) {
  if (!query.isError) {
    return (
      <Text inherit c="dimmed">
        Counting who is affected…
      </Text>
    );
  }
  return (
    <Text inherit>
      Who is affected could not be counted. <TryAgain onRetry={query.refetch} />
    </Text>
  );
}

const isQuery = (consequences: Consequences): consequences is CountedConsequences =>
  typeof consequences === 'object' && !Array.isArray(consequences);
