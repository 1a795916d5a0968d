import { useLocalStorage } from '@mantine/hooks';
import { useEffectEvent, useLayoutEffect, useRef } from 'react';
import { pressInList } from '../ui/key-lists.ts';
import { isDialogOpen, topDialog } from '../ui/open-dialogs.ts';

/** Single-key shortcuts can be switched off, for voice and switch control, which type letters (WCAG 2.1.4). */
export const useShortcutsEnabled = () =>
  useLocalStorage({ key: 'shortcuts', defaultValue: true, getInitialValueInEffect: false });

const chordWithin = 1200;

type Shortcuts = {
  enabled: boolean;
  /** Keys after `g`. */
  go: Record<string, () => void>;
  onHelp: () => void;
  onPalette: () => void;
  onPrint: () => void;
};

const isApple = /mac|iphone|ipad/i.test(navigator.userAgent);

/** As the key of shortcuts is written. */
export const controlKey = isApple ? '⌘' : 'Ctrl';

/** Those of the palette, for `aria-keyshortcuts`. */
export const paletteKeys = isApple ? 'Meta+K' : 'Control+K';

// on a Mac, Ctrl+K deletes the rest of the line, and Ctrl+P moves to the line above
const commandKey = isApple ? 'metaKey' : 'ctrlKey';

/**
 * The keyboard shortcuts. `/`, `c` and Ctrl-Z activate the elements with `data-hotkey`: a screen declares its search field
 * and its create button where it renders them, a message its Undo. Other letters go to the lists of the screen.
 */
export function useShortcuts(shortcuts: Shortcuts): void {
  // times count from the load of the page
  const wentAt = useRef(-chordWithin);
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    const { enabled, go, onHelp, onPalette, onPrint } = shortcuts;
    if (event[commandKey] && isWithControl(event, 'k')) {
      event.preventDefault();
      // It would leave the dialog.
      if (!isDialogOpen()) onPalette();
      return;
    }
    if (event[commandKey] && isWithControl(event, 'p')) {
      event.preventDefault();
      if (!event.repeat) onPrint();
      return;
    }
    // in a field, the browser undoes what was typed; outside of one, it would undo it in the field that was left
    if (isWithControl(event, 'z') && !isTyping(event.target)) {
      event.preventDefault();
      // the newest message comes first
      if (!event.repeat) document.querySelector<HTMLElement>('[data-hotkey="z"]')?.click();
      return;
    }
    if (!enabled || event.defaultPrevented || hasModifier(event) || isTyping(event.target)) return;
    if (topDialog()?.press?.(event.key)) {
      event.preventDefault();
      return;
    }
    if (isTaken(event.target)) return;
    // Holding j or k continues from row to row.
    if (event.repeat && event.key !== 'j' && event.key !== 'k') return;
    const isChord = event.timeStamp - wentAt.current < chordWithin;
    const run = isChord ? go[event.key] : undefined;
    wentAt.current = !run && event.key === 'g' ? event.timeStamp : -chordWithin;
    // also that of a screen that the user may not see: alone, the key could open a dialog
    if (isChord && !run && event.key !== 'g' && letter.test(event.key)) {
      event.preventDefault();
      return;
    }
    const action = run ?? (event.key === '?' ? onHelp : marked(event.key));
    // `g` begins a chord
    if (!action && (event.key === 'g' || !letter.test(event.key) || !pressInList(event.key))) return;
    event.preventDefault();
    action?.();
  });
  // before the screen is seen: a key may follow at once
  useLayoutEffect(() => {
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, []);
}

/** Arrows and Enter have a meaning of their own outside of a list. */
const letter = /^[a-z]$/;

function marked(key: string): (() => void) | undefined {
  if (key !== '/' && key !== 'c') return undefined;
  const element = document.querySelector<HTMLElement>(`[data-hotkey="${key}"]`);
  if (!element) return undefined;
  if (!(element instanceof HTMLInputElement)) return () => element.click();
  return () => {
    element.focus();
    element.select();
  };
}

const isWithControl = (event: KeyboardEvent, key: string) =>
  (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && isLetter(event, key);

/** On a keyboard without Latin letters, such as a Cyrillic one, the key that has this letter elsewhere. */
const isLetter = (event: KeyboardEvent, key: string) =>
  event.key.toLowerCase() === key || (!latin.test(event.key) && event.code === `Key${key.toUpperCase()}`);

const latin = /[\p{Script=Latin}!-~]/u;

const hasModifier = (event: KeyboardEvent) => event.ctrlKey || event.metaKey || event.altKey;

/** Where letters are typed, or choose something. A checkbox of a row takes none. */
const typing = [
  'input:not([type="checkbox"], [type="radio"])',
  'textarea',
  'select',
  '[contenteditable]',
  '[role="menu"]',
  '[role="listbox"]',
].join();

const isIn = (selector: string, target: EventTarget | null) =>
  target instanceof HTMLElement && target.closest(selector) !== null;

/** What is typed while a form is saved is meant for its fields, which have lost the focus. */
const isSaving = () => document.querySelector('[data-saving]') !== null;

const isTyping = (target: EventTarget | null) => isIn(typing, target) || isSaving();

/** A dialog is open, or filters in a popover, which is one too. */
const isTaken = (target: EventTarget | null) =>
  isIn('[role="dialog"]', target) || isDialogOpen() || document.querySelector('[aria-modal="true"]') !== null;
