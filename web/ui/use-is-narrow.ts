import { useMediaQuery } from '@mantine/hooks';

/** True on a phone, where tables and filters are arranged anew. */
export const useIsNarrow = (): boolean =>
  useMediaQuery('(max-width: 39.99em)', false, { getInitialValueInEffect: false });
