import { useEffect } from 'react';
import { createStore, useStore } from './store.ts';

type Part = { of: 'tab' | 'dialog'; text: string };

const parts = createStore<readonly Part[]>([]);

/** Adds the open tab or dialog to the title of the window, while the caller is mounted. */
export function useTitlePart(of: Part['of'], text: string | undefined): void {
  useEffect(() => {
    if (!text) return undefined;
    const part = { of, text };
    parts.set([...parts.get(), part]);
    return () => parts.set(parts.get().filter((one) => one !== part));
  }, [of, text]);
}

/** `Edit Customer · Revoked · License Management · Lanyard`: the innermost part first. */
export function useDocumentTitle(page: string): string {
  const shown = useStore(parts);
  const of = (wanted: Part['of']) => shown.filter((part) => part.of === wanted).map((part) => part.text);
  return [...of('dialog').toReversed(), ...of('tab'), page, 'Lanyard'].join(' · ');
}
