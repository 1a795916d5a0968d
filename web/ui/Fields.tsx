import { useLayoutEffect, useRef, type ReactNode } from 'react';

/**
 * The fields of a form, which take no input while it is saved: what is entered then would seem to be saved, and would be
 * lost. If that fails, the focus returns to the field that had it.
 */
export function Fields({ busy, children }: { busy: boolean; children: ReactNode }) {
  const fields = useRef<HTMLDivElement>(null);
  const focused = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const { activeElement, body } = document;
    if (!busy && activeElement === body) focused.current?.focus();
    const isHere = activeElement instanceof HTMLElement && fields.current?.contains(activeElement);
    focused.current = busy && isHere ? activeElement : null;
  }, [busy]);
  return (
    <div ref={fields} inert={busy} data-saving={busy || undefined} style={{ display: 'contents' }}>
      {children}
    </div>
  );
}
