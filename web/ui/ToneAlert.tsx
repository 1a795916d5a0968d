import { Alert, type AlertProps } from '@mantine/core';
import { toneColors } from './StatusBadge.tsx';

/** A box with a message, in the colors of badges: those of Mantine have too little contrast. */
export function ToneAlert({ tone, ...props }: Omit<AlertProps, 'color'> & { tone: 'teal' | 'red' }) {
  const { background, color } = toneColors(tone);
  return (
    <Alert
      color={tone}
      styles={{ root: { background, color }, message: { color }, icon: { color } }}
      {...props}
    />
  );
}
