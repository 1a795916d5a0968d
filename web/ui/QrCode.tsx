import { Center, Skeleton, Text } from '@mantine/core';
import { Suspense } from 'react';
import { lazyPart } from './lazy-part.ts';

const QrDrawing = lazyPart(() => import('./QrDrawing.tsx'));

/** What the largest code holds at medium error correction. */
const mostBytes = 2331;

/** A text as a QR code, `size` pixels wide and high where there is room; a longer text than it holds gets a note. */
export function QrCode({ size = 196, ...code }: { text: string; label: string; size?: number }) {
  if (new TextEncoder().encode(code.text).length > mostBytes)
    return (
      <Text c="dimmed" ta="center">
        Too long for a QR code.
      </Text>
    );
  return (
    <Center>
      <Suspense fallback={<Skeleton width={size} height={size} radius={6} />}>
        <QrDrawing {...code} size={size} />
      </Suspense>
    </Center>
  );
}
