import { Link } from '@tanstack/react-router';
import type { KeyboardEvent } from 'react';
import { useAuth } from '../session.tsx';
import { IconKeyboard } from '../ui/icons.tsx';
import classes from './Layout.module.css';
import { reachable } from './navigation.ts';

/** Links to the screens that the user may read. */
export function Navigation(props: {
  opened: boolean;
  onNavigate: () => void;
  onHelp: () => void;
  onKeyDown: (event: KeyboardEvent) => void;
}) {
  const { hasPermission } = useAuth();
  return (
    <nav
      id="navigation"
      aria-label="Main"
      className={`${classes.navigation} screen-only`}
      data-opened={props.opened || undefined}
      onKeyDown={props.onKeyDown}
    >
      <ul className="plain-list">
        {reachable(hasPermission).map(({ to, label, icon: Icon }) => (
          <li key={to}>
            <Link to={to} className={classes.link} onClick={props.onNavigate}>
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
