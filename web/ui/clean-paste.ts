import { useEffect } from 'react';

/**
 * Zero-width spaces, soft hyphens and marks of direction, as mails, spreadsheets and web pages put around what is copied,
 * and control characters, as PDF files have for a hyphen at the end of a line.
 */
const unseen = /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]|(?![\t\n\r])\p{Cc}/gu;

/**
 * While mounted, what is pasted into a line leaves them behind: the field would refuse, or not find, what looks right. Not
 * from a password, which is exact.
 */
export function useCleanPaste(): void {
  useEffect(() => {
    const onPaste = (event: ClipboardEvent) => {
      const { target, clipboardData } = event;
      if (!(target instanceof HTMLInputElement) || target.type === 'password') return;
      const pasted = clipboardData?.getData('text/plain') ?? '';
      const clean = pasted.replaceAll(unseen, '');
      if (clean === pasted) return;
      event.preventDefault();
      // as if it was typed: the browser can undo it, and keeps to the maximum length
      document.execCommand('insertText', false, clean);
    };
    document.addEventListener('paste', onPaste);
    return () => document.removeEventListener('paste', onPaste);
  }, []);
}
