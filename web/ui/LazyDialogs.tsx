import { Suspense, type ReactNode } from 'react';
import { useOpenDialog } from './open-dialogs.ts';

/** Where dialogs appear whose code loads when they are asked for; meanwhile one counts as open. */
export function LazyDialogs({ children }: { children: ReactNode }) {
  return <Suspense fallback={<Opening />}>{children}</Suspense>;
}

function Opening() {
  useOpenDialog(() => {});
  return null;
}
