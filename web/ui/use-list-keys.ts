import { useLayoutEffect, useRef, type KeyboardEvent, type RefObject } from 'react';
import { withSelected, type DataTableProps } from './data-table.ts';
import { addKeyList } from './key-lists.ts';
import { inOrder, keysOfActions, runAction, type KeyHelp } from './row-actions.ts';
import { focusedRow, moveRowFocus } from './row-focus.ts';
import { toast } from './toast.tsx';

/**
 * The keys of a list. Single letters come from the shortcuts of the console, which knows whether they are switched off;
 * arrows and Enter work while the focus is in the list. Returns the handler for those.
 */
export function useListKeys<Row>(
  scroller: RefObject<HTMLDivElement | null>,
  props: DataTableProps<Row>,
  onMenu: (id: string) => void,
) {
  const latest = useRef({ props, onMenu });
  // before the rows are seen: a key may follow at once
  useLayoutEffect(() => {
    latest.current = { props, onMenu };
  });
  const { label } = props;
  const hasRows = (props.rows?.length ?? 0) > 0;
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element || !hasRows) return;
    return addKeyList({
      label,
      element,
      press: (key) => press(element, latest.current, key),
      help: () => helpOf(latest.current.props, linkIn(element) !== null),
    });
  }, [scroller, label, hasRows]);

  return (event: KeyboardEvent<HTMLDivElement>) => {
    const element = scroller.current;
    if (!element || event.defaultPrevented || takesArrows(event.target)) return;
    if (changeSelection(element, latest.current.props, event)) event.preventDefault();
    if (hasModifier(event)) return;
    const isRow = event.target === focusedRow(element);
    const key = { ArrowDown: 'j', ArrowUp: 'k', ...(isRow && { Enter: 'Enter', ' ': 'Space' }) }[event.key];
    if (key && press(element, latest.current, key)) event.preventDefault();
  };
}

/** Shift with an arrow selects on, or deselects on the way back; Escape deselects all. */
function changeSelection<Row>(
  element: HTMLElement,
  { selection, onSelection }: DataTableProps<Row>,
  { key, shiftKey, ctrlKey, metaKey, altKey }: KeyboardEvent,
): boolean {
  if (!selection || !onSelection || ctrlKey || metaKey || altKey) return false;
  if (key === 'Escape' && selection.size > 0) {
    onSelection(new Set());
    return true;
  }
  const from = focusedRow(element)?.dataset['row'];
  if (!shiftKey || from === undefined || (key !== 'ArrowDown' && key !== 'ArrowUp')) return false;
  moveRowFocus(element, key === 'ArrowDown' ? 1 : -1);
  const to = focusedRow(element)?.dataset['row'] ?? from;
  const isBack = from !== to && selection.has(from) && selection.has(to);
  onSelection(isBack ? withSelected(selection, [from], false) : withSelected(selection, [from, to], true));
  return true;
}

type Latest<Row> = { props: DataTableProps<Row>; onMenu: (id: string) => void };

function press<Row>(element: HTMLElement, { props, onMenu }: Latest<Row>, key: string): boolean {
  if (key === 'j' || key === 'k') {
    moveRowFocus(element, key === 'j' ? 1 : -1);
    return true;
  }
  const focused = focusedRow(element);
  const id = focused?.dataset['row'];
  const row = props.rows?.find((one) => props.rowId(one) === id);
  if (!focused || id === undefined || row === undefined) return false;
  const { selection, onSelection, onOpen, actions } = props;
  if (key === 'x' && selection) {
    onSelection?.(withSelected(selection, [id], !selection.has(id)));
    return true;
  }
  const possible = inOrder(actions?.(row) ?? []);
  if (key === 'm' && possible.length > 0) {
    onMenu(id);
    return true;
  }
  const action = possible.find((one) => (one.key === key && !one.atOnce) || (key === 'Enter' && one.isMain));
  if (action?.reason)
    void toast({
      message: `${action.label}: ${action.reason}`,
      subject: { name: props.rowLabel?.(row) ?? id, to: props.peek?.to(row) },
      tone: 'red',
    });
  else if (action) runAction(action);
  else if (key === 'Enter' && onOpen) onOpen(row);
  else if (key === 'Enter' && linkIn(focused)) linkIn(focused)?.click();
  else return false;
  return true;
}

/** The link of what names a row leads to its record; others to whom or what it mentions. */
const linkIn = (element: HTMLElement) =>
  element.querySelector<HTMLAnchorElement>('tr[data-row] [role="rowheader"] a[href]');

function helpOf<Row>(
  { rows = [], actions, selection, onOpen }: DataTableProps<Row>,
  hasLinks: boolean,
): KeyHelp[] {
  const ofActions = actions ? keysOfActions(rows.map(actions)) : [];
  const isAction = ofActions.some(({ keys }) => keys.includes('Enter'));
  return [
    { keys: ['j'], meaning: 'Next row (in the list also ↓)' },
    { keys: ['k'], meaning: 'Previous row (in the list also ↑)' },
    ...(selection ? ofSelection : []),
    ...((onOpen || hasLinks) && !isAction ? [{ keys: ['Enter'], meaning: 'Open' }] : []),
    ...ofActions,
    ...(actions ? [{ keys: ['m'], meaning: 'Menu of the row' }] : []),
  ];
}

const ofSelection: KeyHelp[] = [
  { keys: ['x'], meaning: 'Select the row' },
  { keys: ['Shift', '↓'], meaning: 'Select on (in the list, also with ↑)' },
  { keys: ['Esc'], meaning: 'Deselect all (in the list)' },
];

const hasModifier = (event: KeyboardEvent) =>
  event.ctrlKey || event.metaKey || event.altKey || event.shiftKey;

/** A field, or an open menu, for which the arrows have a meaning of their own. */
const takesArrows = (target: EventTarget) =>
  target instanceof Element &&
  target.closest('input:not([type="checkbox"]), textarea, select, [role="menu"], [role="listbox"]') !== null;
