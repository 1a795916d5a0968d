import { Link } from '@tanstack/react-router';
import type { FocusEvent, KeyboardEvent } from 'react';
import { useAuth } from '../session.tsx';
import { IconKeyboard } from '../ui/icons.tsx';
import classes from './Layout.module.css';
import { reachable } from './navigation.ts';

/** Links to the screens that the user may read. */
export function Navigation(props: {
  opened: boolean;
  /** The screen is wanted, which the open menu of a narrow window covers. */
  onLeave: () => void;
  onHelp: () => void;
  onKeyDown: (event: KeyboardEvent) => void;
}) {
  const { permissions } = useAuth();
  const onBlur = ({ relatedTarget }: FocusEvent) => {
    if (relatedTarget && !relatedTarget.closest(uncovered)) props.onLeave();
  };
  return (
    <nav
      id="navigation"
      aria-label="Main"
      className={`${classes.navigation} screen-only`}
      data-opened={props.opened || undefined}
      onKeyDown={props.onKeyDown}
      onBlur={onBlur}
    >
      <ul className="plain-list">
        {reachable(permissions).map(({ to, label, icon: Icon }) => (
          <li key={to}>
            <Link to={to} className={classes.link} onClick={props.onLeave}>
              <Icon size={16} stroke={1.5} />
              {label}
            </Link>
          </li>
        ))}
      </ul>
      <button type="button" className={classes.help} onClick={props.onHelp} aria-keyshortcuts="?">
        <IconKeyboard size={16} stroke={1.5} />
        Keyboard shortcuts
      </button>
    </nav>
  );
}

/** What an open menu leaves in view. */
const uncovered = `#navigation, .${classes.bar}, [role="dialog"]`;
