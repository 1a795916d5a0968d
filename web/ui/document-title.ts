import { useEffect, useSyncExternalStore } from 'react';

type Part = { of: 'tab' | 'dialog'; text: string };

let parts: readonly Part[] = [];
const listeners = new Set<() => void>();

function change(next: readonly Part[]): void {
  parts = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Names the open tab or dialog in the title of the window, while the caller is shown. */
export function useTitlePart(of: Part['of'], text: string | undefined): void {
  useEffect(() => {
    if (!text) return undefined;
    const part = { of, text };
    change([...parts, part]);
    return () => change(parts.filter((one) => one !== part));
  }, [of, text]);
}

/** `Edit Customer · Revoked · License Management · Lanyard`: from the innermost to the product. */
export function useDocumentTitle(page: string): string {
  const shown = useSyncExternalStore(subscribe, () => parts);
  const of = (wanted: Part['of']) => shown.filter((part) => part.of === wanted).map((part) => part.text);
  return [...of('dialog').toReversed(), ...of('tab'), page, 'Lanyard'].join(' · ');
}
