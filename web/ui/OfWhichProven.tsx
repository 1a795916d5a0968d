import { Text } from '@mantine/core';
import { countText } from './numbers.ts';

/** A number of machines, and how many of them proved themselves; the others are claimed by callers with an API key. */
export function OfWhichProven({
  all,
  proven,
  of = '',
}: {
  all: number;
  proven: number;
  /** What `proven` is counted in, where it is not `all`. */
  of?: string;
}) {
  return (
    <>
      {countText(all)}
      {proven > 0 && (
        <Text span c="dimmed">
          {' '}
          ({[countText(proven), 'proven', of].join(' ').trim()})
        </Text>
      )}
    </>
  );
}
