import { Skeleton, Stack } from '@mantine/core';

/**
 * The placeholder for a form that is loading in a dialog, with a bar for each height in pixels. It has the focus until the
 * form takes it with `focusLate`.
 */
export function FormSkeleton({ heights }: { heights: readonly number[] }) {
  return (
    <Stack gap="md" role="group" aria-busy aria-label="Loading" tabIndex={-1} data-autofocus>
      {heights.map((height, row) => (
        <Skeleton key={row} height={height} radius={4} />
      ))}
    </Stack>
  );
}
