import { Center, Loader } from '@mantine/core';

/** Shown in the center of the window while the stored session is restored. */
export function RestoringSpinner() {
  return (
    <Center h="100dvh" role="status">
      <Loader size="sm" />
      <span className="visually-hidden">Loading</span>
    </Center>
  );
}
