import { Center, Loader } from '@mantine/core';

/** Stands in the middle of the window while the stored session is restored. */
export function RestoringSpinner() {
  return (
    <Center h="100dvh" role="status" aria-label="Loading">
      <Loader size="sm" />
    </Center>
  );
}
