import { lazy, Suspense } from 'react';
import { useToastsWanted } from './toast.tsx';

const Toasts = lazy(() => import('./Toasts.tsx'));

/** Where toasts appear: a live region that is there before the first of them, so that each is read out. */
export function ToastRegion() {
  const wanted = useToastsWanted();
  return (
    <section aria-label="Notifications" aria-live="polite">
      <Suspense>{wanted && <Toasts />}</Suspense>
    </section>
  );
}
