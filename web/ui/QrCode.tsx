import { Center, Skeleton } from '@mantine/core';
import { lazy, Suspense } from 'react';

const QrDrawing = lazy(() => import('./QrDrawing.tsx'));

/** A text as a QR code, `size` pixels wide and high where there is room. */
export function QrCode({ size = 196, ...code }: { text: string; label: string; size?: number }) {
  return (
    <Center>
      <Suspense fallback={<Skeleton width={size} height={size} radius={6} />}>
        <QrDrawing {...code} size={size} />
      </Suspense>
    </Center>
  );
}
