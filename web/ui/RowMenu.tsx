import { Kbd, Menu } from '@mantine/core';
import { Fragment, useState, type KeyboardEvent } from 'react';
import classes from './RowActions.module.css';
import { pressOnce } from './press-once.ts';
import { menuAction, runAction, type RowAction } from './row-actions.ts';

/**
 * The menu of a row: all its actions with their keys, dangerous ones last. Loaded when it is first opened. `onClose` gets
 * what had the focus before: the button, or the row whose key opened it.
 */
export default function RowMenu(props: {
  name: string;
  actions: RowAction[];
  onClose: (opener: Element | null) => void;
}) {
  const { name, actions } = props;
  const [opener] = useState(() => document.activeElement);
  const onClose = () => props.onClose(opener);
  const choose = (action: RowAction) => {
    if (action.reason) return;
    // first: a dialog returns the focus to what had it when it opened
    onClose();
    runAction(action);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const action = menuAction(actions, event);
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    choose(action);
  };
  const firstDanger = actions.findIndex(({ danger }) => danger);
  return (
    <Menu
      opened
      onChange={onClose}
      returnFocus={false}
      // the first item gets the focus: a placeholder in front of it is no item
      withInitialFocusPlaceholder={false}
      menuItemTabIndex={0}
      position="bottom-end"
      offset={4}
      radius={8}
      shadow="md"
      width={220}
      transitionProps={{ duration: 0 }}
    >
      <Menu.Target>
        <span className={classes.anchor} aria-hidden />
      </Menu.Target>
      <Menu.Dropdown
        ref={focusFirst}
        aria-label={`Actions of ${name}`}
        aria-labelledby={undefined}
        onKeyDown={onKeyDown}
      >
        {/* for the timer of the library, which would take the focus back from where an arrow went meanwhile */}
        <span hidden data-autofocus />
        {actions.map((action, index) => (
          <Fragment key={action.key}>
            {index === firstDanger && index > 0 && <Menu.Divider />}
            <Item action={action} onChoose={() => choose(action)} />
          </Fragment>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

/** At once: the library does it by a timer, and a key before that would go to the list behind. */
const focusFirst = (menu: HTMLElement | null) =>
  menu?.querySelector<HTMLElement>('[role="menuitem"]')?.focus({ preventScroll: true });

/** As {@link menuAction} has it. */
const keyOf = ({ key }: RowAction) => (key === 'Enter' || key === 'Space' ? undefined : key);

function Item({ action, onChoose }: { action: RowAction; onChoose: () => void }) {
  const { label, reason, danger } = action;
  const key = keyOf(action);
  return (
    <Menu.Item
      className={classes.item}
      data-danger={(danger && !reason) || undefined}
      aria-disabled={reason ? true : undefined}
      aria-keyshortcuts={key}
      closeMenuOnClick={false}
      rightSection={key && <Kbd size="xs">{key}</Kbd>}
      {...pressOnce(onChoose)}
    >
      {label}
      {reason && <span className={classes.reason}>{reason}</span>}
    </Menu.Item>
  );
}
