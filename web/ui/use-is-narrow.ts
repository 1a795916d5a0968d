import { useMediaQuery } from '@mantine/hooks';

/** True on a phone, where tables and filters have another layout. */
export const useIsNarrow = (): boolean =>
  useMediaQuery('(max-width: 39.99em)', false, { getInitialValueInEffect: false });
