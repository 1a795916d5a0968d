import { Skeleton, Stack } from '@mantine/core';

/**
 * Stands in a dialog for a form that is still loading, with a bar of each of these heights in pixels. Holds the focus,
 * which the form takes over by `focusLate`.
 */
export function FormSkeleton({ heights }: { heights: readonly number[] }) {
  return (
    <Stack gap="md" aria-busy aria-label="Loading" tabIndex={-1} data-autofocus>
      {heights.map((height, row) => (
        <Skeleton key={row} height={height} radius={4} />
      ))}
    </Stack>
  );
}
