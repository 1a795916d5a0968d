import { Suspense, useEffect, useRef, useSyncExternalStore } from 'react';
import { DisabledReason } from './DisabledReason.tsx';
import classes from './RowActions.module.css';
import { IconDots } from './icons.tsx';
import { pressOnce } from './press-once.ts';
import type { RowAction } from './row-actions.ts';
import { RowButton, RowLink } from './RowButton.tsx';
import type { Store } from './store.ts';
import { lazyPart } from './lazy-part.ts';

const RowMenu = lazyPart(() => import('./RowMenu.tsx'));

/** Id of the row whose menu is open. */
export type OpenMenu = Store<string | undefined> & { set: (id: string | undefined) => void };

/** The buttons of a row, and the button of its menu. The first is aligned with the header of the column. */
export function RowActions(props: {
  id: string;
  /** Name of the row. */
  name: string;
  actions: RowAction[];
  /** Replaces the buttons that are disabled. */
  note?: string | null | undefined;
  menu: OpenMenu;
}) {
  const { id, name, actions, note, menu } = props;
  const isOpen = useSyncExternalStore(menu.subscribe, () => menu.get() === id);
  // gone with its row: opened again when that comes back, it would take the keys that are typed elsewhere
  useEffect(() => () => void (menu.get() === id && menu.set(undefined)), [menu, id]);
  const more = useRef<HTMLButtonElement>(null);
  const shown = actions.filter(({ inRow, reason }) => inRow && !(note && reason));
  // a menu of one action, which is a button already, would say nothing
  const hasMenu = actions.length > 1 || shown.length < actions.length;
  const close = (opener: Element | null) => {
    menu.set(undefined);
    const row = opener?.matches('tr') ? (opener as HTMLElement) : more.current;
    row?.focus();
  };
  return (
    <div className={classes.actions} data-menu={hasMenu || undefined}>
      {shown.map((action) => (
        <ActionButton key={action.key} action={action} name={name} />
      ))}
      {note && <span className={classes.note}>{note}</span>}
      {hasMenu && (
        <span className={`${classes.more} screen-only`}>
          <RowButton
            icon
            tone="gray"
            ref={more}
            aria-label="More actions"
            aria-haspopup="menu"
            aria-expanded={isOpen}
            // an open menu closes when the pointer goes down outside of it, and the click would open it again
            onMouseDown={(event) => isOpen && event.stopPropagation()}
            onTouchStart={(event) => isOpen && event.stopPropagation()}
            onClick={() => (isOpen ? close(null) : menu.set(id))}
          >
            <IconDots size={16} stroke={1.6} />
          </RowButton>
          {isOpen && (
            <Suspense>
              <RowMenu name={name} actions={actions} onClose={close} />
            </Suspense>
          )}
        </span>
      )}
    </div>
  );
}

function ActionButton({ action, name }: { action: RowAction; name: string }) {
  const { label, danger, icon: Icon, href, run, reason, busy } = action;
  const look = {
    icon: Icon !== undefined,
    tone: danger ? ('red' as const) : Icon ? ('gray' as const) : undefined,
    'aria-busy': busy,
    ...(Icon && { 'data-hint': label, 'aria-label': `${label} ${name}` }),
  };
  const content = Icon ? <Icon size={16} stroke={1.6} /> : label;
  if (href !== undefined)
    return (
      <RowLink {...look} href={href} target="_blank" rel="noopener noreferrer">
        {content}
      </RowLink>
    );
  return (
    <DisabledReason reason={reason ?? null}>
      <RowButton {...look} {...pressOnce(run)}>
        {content}
      </RowButton>
    </DisabledReason>
  );
}
