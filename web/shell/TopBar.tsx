import { ActionIcon, Button, Kbd, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { paths } from '../paths.ts';
import { useAuth } from '../session.tsx';
import { IconMoon, IconSearch, IconSun, IconUserCircle } from '../ui/icons.tsx';
import { Brand } from './Brand.tsx';
import classes from './Layout.module.css';
import { controlKey, paletteKeys } from './shortcuts.ts';

/** Brand, search, color scheme and user menu. */
export function TopBar({ burger, onSearch }: { burger: ReactNode; onSearch: () => void }) {
  const { user, logout } = useAuth();
  return (
    <header className={`${classes.bar} screen-only`}>
      <div className={classes.brand}>
        {burger}
        <Link to={paths.home} className={classes.brandLink}>
          <Brand />
        </Link>
      </div>
      <button type="button" className={classes.search} onClick={onSearch} aria-keyshortcuts={paletteKeys}>
        <IconSearch />
        <span className={`ellipsis ${classes.searchText}`}>Search or jump to...</span>
        <span className={classes.keys} aria-hidden>
          <Kbd size="xs">{controlKey}</Kbd>
          <Kbd size="xs">K</Kbd>
        </span>
      </button>
      <div className={classes.user}>
        <ColorSchemeToggle />
        <Link to={paths.account} className={classes.account} title={user?.email}>
          <IconUserCircle size={17} />
          <span className={`ellipsis ${classes.name}`}>{user?.name || 'User'}</span>
        </Link>
        <Button variant="default" size="compact-sm" fz={13} fw={500} onClick={logout}>
          Logout
        </Button>
      </div>
    </header>
  );
}

function ColorSchemeToggle() {
  const { setColorScheme } = useMantineColorScheme();
  const dark = useComputedColorScheme('light', { getInitialValueInEffect: false }) === 'dark';
  const label = dark ? 'Use light colors' : 'Use dark colors';
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size={28}
      aria-label={label}
      data-hint={label}
      onClick={() => setColorScheme(dark ? 'light' : 'dark')}
    >
      {dark ? <IconSun size={17} /> : <IconMoon size={17} />}
    </ActionIcon>
  );
}
