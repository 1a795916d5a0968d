import { Select as MantineSelect, type SelectProps } from '@mantine/core';
import { useReducer, useRef, type KeyboardEvent } from 'react';
import { flushSync } from 'react-dom';

/** How long typed letters count as one beginning, in milliseconds. */
const pauseMs = 1000;

const chosen = '[data-combobox-active]';
const focused = '[data-combobox-selected]';

/**
 * A choice of one. Without a search, it answers keys as that of the browser does: an arrow opens the list at the chosen
 * option, letters go to the next option that begins with them, and Space and Tab choose the option that they went to.
 */
export function Select(props: SelectProps) {
  const [, tellOpened] = useReducer((times: number) => times + 1, 0);
  const typed = useRef({ text: '', at: -pauseMs });
  /** The option that a key went to. One of a list that was closed is in no other. */
  const went = useRef<Element>(undefined);

  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const { currentTarget: field, key, timeStamp } = event;
    const isArrow = key === 'ArrowDown' || key === 'ArrowUp';
    // the library moves by an arrow with any of them
    const isShortcut = (event.ctrlKey || event.metaKey || event.altKey) && !isArrow;
    if (isShortcut || event.nativeEvent.isComposing) return;
    const isOpen = openOptions(field).length > 0;
    const before = isOpen && timeStamp - typed.current.at < pauseMs ? typed.current.text : '';
    const chooses = key === 'Enter' || key === 'Tab' || (key === ' ' && !before);
    // a space that begins nothing opens and closes the list, and Enter opens it
    if (chooses ? !isOpen : key.length > 1 && !isArrow) return;
    if (!isOpen) press(field, 'ArrowDown');
    const options = openOptions(field);
    const current = currentOf(options, field, went.current);
    if (chooses) {
      // what is chosen already could be deselected by that
      if (!current || (key !== 'Enter' && current.matches(chosen))) return;
      current.click();
      if (key === 'Tab') return;
    }
    // the library would open the list again, or move in it from elsewhere
    event.preventDefault();
    event.stopPropagation();
    if (chooses) return;
    typed.current = { text: isArrow ? '' : before + key.toLowerCase(), at: timeStamp };
    if (isArrow && !isOpen) return goTo(field, current ?? options[0]);
    const at = options.findIndex((one) => one === current);
    if (key === 'ArrowDown') went.current = options[at + 1] ?? options[0];
    else if (key === 'ArrowUp') went.current = options.at(Math.max(at, 0) - 1);
    else went.current = beginning(options, at, typed.current.text) ?? current ?? options[0];
    goTo(field, went.current, key === 'ArrowUp' ? key : 'ArrowDown');
  };

  return (
    <MantineSelect
      {...(!props.searchable && { onKeyDownCapture: onKeyDown })}
      {...props}
      onDropdownOpen={() => {
        props.onDropdownOpen?.();
        // the field says that its list is open only when it renders after the list did
        setTimeout(tellOpened);
      }}
    />
  );
}

/** The list is in the document, beside its field, only while it is open. */
const openOptions = (field: HTMLElement) => [
  ...(field
    .closest('.mantine-Select-root')
    ?.parentElement?.querySelectorAll<HTMLElement>('[role="option"]:not([data-combobox-disabled])') ?? []),
];

/**
 * Where the user is in the list. Not by its mark: the library removes that as a value arrives, and by a timer of the last
 * closing. What the field shows was chosen last, and comes before what it named when the list opened: the value of a filter
 * follows once its address is open.
 */
const currentOf = (options: HTMLElement[], field: HTMLInputElement, went: Element | undefined) =>
  options.find((one) => one === went) ??
  options.find((one) => one.textContent === field.value) ??
  options.find(({ id }) => id === field.getAttribute('aria-activedescendant'));

/** The next one that begins with the text; the same letter again goes to the next of its options. */
function beginning(options: HTMLElement[], at: number, text: string): HTMLElement | undefined {
  const isSame = text.replaceAll(text.charAt(0), '') === '';
  const next = Math.max(at + (isSame ? 1 : 0), 0);
  const begins = (one: Element) => one.textContent.toLowerCase().startsWith(isSame ? text.charAt(0) : text);
  return [...options.slice(next), ...options.slice(0, next)].find(begins);
}

type Arrow = 'ArrowDown' | 'ArrowUp';

/** The library moves in its list by arrows alone. */
const press = (field: HTMLElement, code: Arrow) =>
  flushSync(() => field.dispatchEvent(new window.KeyboardEvent('keydown', { code, bubbles: true })));

function goTo(field: HTMLElement, option: Element | undefined, by: Arrow = 'ArrowDown'): void {
  let most = openOptions(field).length;
  while (option && !option.matches(focused) && most-- > 0) press(field, by);
}
