import { Text } from '@mantine/core';

/** A number of machines, and how many of them proved themselves; the others are claimed by callers with an API key. */
export function OfWhichProven({ all, proven }: { all: number; proven: number }) {
  return (
    <>
      {all.toLocaleString('en')}
      {proven > 0 && (
        <Text span c="dimmed">
          {' '}
          ({proven.toLocaleString('en')} proven)
        </Text>
      )}
    </>
  );
}
