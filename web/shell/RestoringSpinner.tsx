import { Center, Loader } from '@mantine/core';

/** Shown in the center of the window while the stored session is restored. */
export function RestoringSpinner() {
  return (
    <Center h="100dvh" role="status" aria-label="Loading">
      <Loader size="sm" />
    </Center>
  );
}
