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

  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const { currentTarget: field, key, timeStamp } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.nativeEvent.isComposing) return;
    const isOpen = openOptions(field).length > 0;
    const isArrow = key === 'ArrowDown' || key === 'ArrowUp';
    const before = isOpen && timeStamp - typed.current.at < pauseMs ? typed.current.text : '';
    const isSpace = key === ' ' && !before;
    if (isOpen && (isSpace || key === 'Tab')) {
      const option = openOptions(field).find((one) => one.matches(focused));
      // what is chosen already could be deselected by that
      if (option instanceof HTMLElement && !option.matches(chosen)) {
        option.click();
        if (key === 'Tab') return;
        // the library would open the list again
        event.preventDefault();
        event.stopPropagation();
      }
    }
    // a value that arrives while the list is open unmarks its options, and the library would take Enter for nothing
    const isLost = key === 'Enter' && isOpen && !openOptions(field).some((one) => one.matches(focused));
    if (isLost) goTo(field, openOptions(field).find(isShownIn(field)));
    // a space that begins nothing opens and closes the list
    if (isArrow ? isOpen : key.length > 1 || isSpace) return;
    event.preventDefault();
    event.stopPropagation();
    if (!isOpen) arrowDown(field);
    const options = openOptions(field);
    const marked = options.findIndex((one) => one.matches(focused));
    const from = marked < 0 ? options.findIndex(isShownIn(field)) : marked;
    if (isArrow) return goTo(field, options[Math.max(from, 0)]);
    const text = before + key.toLowerCase();
    typed.current = { text, at: timeStamp };
    // the same letter again goes to the next of its options
    const isSame = text.replaceAll(text.charAt(0), '') === '';
    const next = Math.max(from + (isSame ? 1 : 0), 0);
    const begins = (one: Element) => one.textContent.toLowerCase().startsWith(isSame ? text.charAt(0) : text);
    const found = [...options.slice(next), ...options.slice(0, next)].find(begins);
    goTo(field, found ?? options[Math.max(from, 0)]);
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
const openOptions = (field: HTMLElement): Element[] => [
  ...(field
    .closest('.mantine-Select-root')
    ?.parentElement?.querySelectorAll('[role="option"]:not([data-combobox-disabled])') ?? []),
];

/** What the field shows was chosen last: the value of a filter follows it only once its address is open. */
const isShownIn = (field: HTMLInputElement) => (option: Element) => option.textContent === field.value;

/** The library moves in its list by arrows alone. */
const arrowDown = (field: HTMLElement) =>
  flushSync(() =>
    field.dispatchEvent(new window.KeyboardEvent('keydown', { code: 'ArrowDown', bubbles: true })),
  );

function goTo(field: HTMLElement, option: Element | undefined): void {
  let most = openOptions(field).length;
  while (option && !option.matches(focused) && most-- > 0) arrowDown(field);
}
