import { Suspense, type ReactNode } from 'react';
import { useOpenDialog } from './open-dialogs.ts';

/** The place for lazy-loaded dialogs; while the code loads, a dialog counts as open. */
export function LazyDialogs({ children }: { children: ReactNode }) {
  return <Suspense fallback={<Opening />}>{children}</Suspense>;
}

function Opening() {
  useOpenDialog(() => {});
  return null;
}
