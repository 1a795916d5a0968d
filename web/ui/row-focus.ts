/*
 * The focus moves from row to row in the document itself, not in the state of a component: a list of two hundred rows
 * is not rendered again for a key.
 */

const rowSelector = 'tr[data-row]';

const rowsOf = (list: HTMLElement) => [...list.querySelectorAll<HTMLElement>(rowSelector)];

/** The row that has the focus, or that contains the control with the focus. */
export function focusedRow(list: HTMLElement): HTMLElement | undefined {
  const row = document.activeElement?.closest<HTMLElement>(rowSelector);
  return row && list.contains(row) ? row : undefined;
}

/** A row by its id, if it is in the document. */
export const rowWithId = (id: string): HTMLElement | undefined =>
  document.querySelector<HTMLElement>(`tr[data-row="${CSS.escape(id)}"]`) ?? undefined;

/** Index of the row after `by` steps; undefined beyond the ends. `at`: of the current row, -1 without one. */
export function stepFrom(at: number, by: 1 | -1, count: number): number | undefined {
  const next = at + by;
  return at >= 0 && next >= 0 && next < count ? next : undefined;
}

/** Of each list, the row that had the focus last, and the ids of all rows at that time. */
const lastFocused = new WeakMap<HTMLElement, { id: string; order: string[] }>();

const idOf = (row: HTMLElement) => row.dataset['row'] ?? '';

/** To be called whenever a row gets the focus. Returns the id of the row, undefined where no row has the focus. */
export function rememberFocus(list: HTMLElement): string | undefined {
  const row = focusedRow(list);
  if (!row) return undefined;
  lastFocused.set(list, { id: idOf(row), order: rowsOf(list).map(idOf) });
  return idOf(row);
}

/**
 * The row that had the focus, where Undo brought it back; else the one beside it, as of an extended license that left the
 * filter; at an end of the list, the one on its other side. The list has the focus since then: see `useLostFocus` and
 * `useFocusReturn`.
 */
function placeOfLast(list: HTMLElement, rows: HTMLElement[], by: 1 | -1): HTMLElement | undefined {
  const last = lastFocused.get(list);
  const byId = new Map(rows.map((row) => [idOf(row), row]));
  const { activeElement, body } = document;
  // for a moment, nothing has the focus of a row that is gone
  const isLost = activeElement === body && last !== undefined && !byId.has(last.id);
  if (!last || (activeElement !== list && !isLost)) return undefined;
  const at = last.order.indexOf(last.id);
  const [before, after] = [last.order.slice(0, at).toReversed(), last.order.slice(at + 1)];
  const inTurn = [last.id, ...(by === 1 ? [...after, ...before] : [...before, ...after])];
  const row = byId.get(inTurn.find((id) => byId.has(id)) ?? '');
  return row && isRowInView(row) ? row : undefined;
}

/**
 * Moves the focus to the next or previous row. Without a current row, to the place of the one that had the focus last,
 * else to the first one that is visible.
 */
export function moveRowFocus(list: HTMLElement, by: 1 | -1): void {
  const rows = rowsOf(list);
  const current = focusedRow(list);
  if (!current) {
    const visible = () => rows.find((row) => isBelowHeader(list, row)) ?? rows[0];
    return focusRow(placeOfLast(list, rows, by) ?? visible());
  }
  const next = stepFrom(rows.indexOf(current), by, rows.length);
  focusRow(next === undefined ? current : rows[next]);
}

export function focusRow(row: HTMLElement | undefined): void {
  if (!row) return;
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: 'nearest', inline: 'nearest' });
}

/** Whether a part of it is seen, in the box that scrolls and in the window. */
export function isRowInView(row: HTMLElement): boolean {
  const { top, bottom } = row.getBoundingClientRect();
  const box = row.closest('[data-scroll-restoration-id]')?.getBoundingClientRect();
  return bottom > Math.max(0, box?.top ?? 0) && top < Math.min(window.innerHeight, box?.bottom ?? Infinity);
}

function isBelowHeader(list: HTMLElement, row: HTMLElement): boolean {
  const header = list.querySelector('thead')?.getBoundingClientRect();
  const top = Math.max(header?.bottom ?? 0, list.getBoundingClientRect().top, 0);
  return row.getBoundingClientRect().top >= top - 1;
}
