import { Suspense } from 'react';
import { lazyPart } from './lazy-part.ts';
import { useToastsWanted } from './toast.tsx';

const Toasts = lazyPart(() => import('./Toasts.tsx'));

/** A live region for toasts, which must exist before the first one so that it is announced. */
export function ToastRegion() {
  const wanted = useToastsWanted();
  return (
    <section aria-label="Notifications" aria-live="polite">
      <Suspense>{wanted && <Toasts />}</Suspense>
    </section>
  );
}
