import {
  Suspense,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore,
  type RefObject,
} from 'react';
import { DisabledReason } from './DisabledReason.tsx';
import classes from './RowActions.module.css';
import { IconDots } from './icons.tsx';
import { pressOnce } from './press-once.ts';
import { menuAction, runAction, type RowAction } from './row-actions.ts';
import { RowButton, RowLink } from './RowButton.tsx';
import type { Store } from './store.ts';
import { lazyPart, partsMissing } from './lazy-part.ts';

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
  const giveUp = () => menu.set(undefined);
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
            <Suspense
              fallback={<EarlyKeys actions={actions} button={more} onClose={close} giveUp={giveUp} />}
            >
              <RowMenu name={name} actions={actions} onClose={close} />
            </Suspense>
          )}
        </span>
      )}
    </div>
  );
}

/** Move in the menu or press its item; none has the focus yet. */
const ofItems = new Set(['ArrowDown', 'ArrowUp', 'Home', 'End', 'Enter', ' ']);

const isModifier = (key: string) => ['Shift', 'Control', 'Alt', 'AltGraph', 'Meta'].includes(key);

/**
 * Takes the keys of the menu while its code loads. Any other key, and going elsewhere, give it up: opened late, it would
 * take for its own what is typed by then.
 */
function EarlyKeys(props: {
  actions: RowAction[];
  button: RefObject<HTMLElement | null>;
  onClose: (opener: Element | null) => void;
  giveUp: () => void;
}) {
  const [opener] = useState(() => document.activeElement);
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    const action = menuAction(props.actions, event);
    if (isModifier(event.key)) return;
    // the key that opened it is still held
    if (event.repeat) return event.preventDefault();
    if (!action && event.key !== 'Escape' && !ofItems.has(event.key)) return props.giveUp();
    event.preventDefault();
    event.stopPropagation();
    if (ofItems.has(event.key) || action?.reason) return;
    props.onClose(opener);
    if (action) runAction(action);
  });
  const onElsewhere = useEffectEvent(({ target }: Event) => {
    if (!(target instanceof Node && props.button.current?.contains(target))) props.giveUp();
  });
  // it will not come, as MissingParts says
  const onMissing = useEffectEvent(props.giveUp);
  useEffect(() => partsMissing.subscribe(() => onMissing()), []);
  useLayoutEffect(() => {
    window.addEventListener('keydown', onKeyDown, { capture: true });
    window.addEventListener('pointerdown', onElsewhere, { capture: true });
    window.addEventListener('focusin', onElsewhere, { capture: true });
    return () => {
      window.removeEventListener('keydown', onKeyDown, { capture: true });
      window.removeEventListener('pointerdown', onElsewhere, { capture: true });
      window.removeEventListener('focusin', onElsewhere, { capture: true });
    };
  }, []);
  return null;
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
