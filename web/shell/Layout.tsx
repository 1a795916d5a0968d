import { Burger } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useRouter } from '@tanstack/react-router';
import {
  Suspense,
  useEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
} from 'react';
import { printWhole } from '../printed-list.ts';
import { useAuth } from '../session.tsx';
import { useLostFocus } from '../ui/focus-return.ts';
import { lazyPart } from '../ui/lazy-part.ts';
import { useCleanPaste } from '../ui/clean-paste.ts';
import { useSecondClicks } from '../ui/second-clicks.ts';
import { Hints } from '../ui/Hints.tsx';
import { LazyDialogs } from '../ui/LazyDialogs.tsx';
import { ToastRegion } from '../ui/ToastRegion.tsx';
import { endToasts } from '../ui/toast.tsx';
import { BuildInfo } from './BuildInfo.tsx';
import { keepEarlyKeys } from './early-keys.ts';
import classes from './Layout.module.css';
import { MissingParts } from './MissingParts.tsx';
import { Navigation } from './Navigation.tsx';
import { reachable } from './navigation.ts';
import { Notices } from './Notices.tsx';
import { PaperHeader } from './PaperHeader.tsx';
import { useShortcuts, useShortcutsEnabled } from './shortcuts.ts';
import { TopBar } from './TopBar.tsx';
import { useOwnChanges } from './use-own-changes.ts';
import { useTellReplayed } from './use-tell-replayed.ts';
import { Waiting } from './Waiting.tsx';

const CommandPalette = lazyPart(() => import('./CommandPalette.tsx'));
const HelpDialog = lazyPart(() => import('./HelpDialog.tsx'));

/** The frame of every screen: bar, navigation and overlays. `children`: its `Screen`; `tray`: at the bottom right. */
export function Layout(props: { notices: ReactNode; tray: ReactNode; children: ReactNode }) {
  const { notices, tray, children } = props;
  const [menuOpened, menu] = useDisclosure(false);
  const { history } = useRouter();
  // whatever leads to another screen: the menu would cover it
  useEffect(() => history.subscribe(menu.close), [history, menu.close]);
  const [helpOpened, help] = useDisclosure(false);
  const palette = usePalette();
  useConsoleShortcuts({ onHelp: help.open, onPalette: palette.open });
  useLostFocus();
  useSecondClicks();
  useCleanPaste();
  useTellReplayed();
  useOwnChanges();
  const userId = useAuth().user?.userId;
  // the next user would read them, and undo what is not theirs
  useEffect(() => (userId === undefined ? undefined : endToasts), [userId]);
  const burger = useRef<HTMLButtonElement>(null);
  const leaveMenu = ({ key }: KeyboardEvent) => {
    if (key !== 'Escape' || !menuOpened) return;
    menu.close();
    burger.current?.focus();
  };

  return (
    <div className={classes.shell}>
      <a className={`${classes.skip} screen-only`} href="#main" onClick={focusMain}>
        Skip to content
      </a>
      <PaperHeader />
      <TopBar
        onSearch={palette.open}
        burger={
          <Burger
            ref={burger}
            onKeyDown={leaveMenu}
            className={classes.burger}
            size={18}
            opened={menuOpened}
            onClick={menu.toggle}
            aria-label="Navigation"
            aria-expanded={menuOpened}
            aria-controls="navigation"
          />
        }
      />
      <Navigation opened={menuOpened} onLeave={menu.close} onHelp={help.open} onKeyDown={leaveMenu} />
      <Notices ofFeatures={notices}>{children}</Notices>
      <BuildInfo />
      <div className={`${classes.overlays} screen-only`}>
        {tray}
        <ToastRegion />
        <Hints />
        <MissingParts />
        <Waiting />
      </div>
      <Suspense>{palette.asked > 0 && <CommandPalette asked={palette.asked} />}</Suspense>
      <LazyDialogs>{helpOpened && <HelpDialog onClose={help.close} />}</LazyDialogs>
    </div>
  );
}

/** The palette and its library load when it is first opened. `asked`: how often it was. */
function usePalette() {
  const [asked, setAsked] = useState(0);
  const open = () => {
    if (!document.activeElement?.closest('[role="dialog"]')) keepEarlyKeys(() => setAsked(0));
    setAsked((times) => times + 1);
  };
  return { asked, open };
}

function useConsoleShortcuts(on: { onHelp: () => void; onPalette: () => void }): void {
  const [enabled] = useShortcutsEnabled();
  const { permissions } = useAuth();
  const navigate = useNavigate();
  const go = Object.fromEntries(
    reachable(permissions).map((item) => [item.key, () => void navigate({ to: item.to })]),
  );
  const client = useQueryClient();
  useShortcuts({ enabled, go, ...on, onPrint: () => printWhole(client) });
}

/** The URL must not change, or the router would take `#main` for a navigation. */
function focusMain(event: MouseEvent): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}
