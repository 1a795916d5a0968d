import { Button, Menu } from '@mantine/core';
import { useRef } from 'react';
import type { SavedView } from '../../../contract/views.ts';
import { useKept } from '../../kept-work.ts';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { IconBookmark } from '../../ui/icons.tsx';
import { useCurrentView, type ViewedList } from './use-current-view.ts';
import { useRemoveView } from './use-remove-view.ts';
import classes from './views.module.css';
import { lazyPart } from '../../ui/lazy-part.ts';

const SaveView = lazyPart(() => import('./SaveView.tsx'));

/** The saved views of a list: opens one, saves the current filters as one, renames, shares and deletes. */
export default function ViewMenu(viewed: ViewedList) {
  const { views, current, query, refresh, open, leave } = useCurrentView(viewed);
  const remove = useRemoveView({ onRemoved: leave, onRestored: open });
  const [asked, setAsked] = useKept<{ view: SavedView | undefined }>('open: save view');
  const button = useRef<HTMLButtonElement>(null);
  const ask = (view: SavedView | undefined) => {
    // first: a dialog returns the focus to what had it when it opened
    button.current?.focus();
    setAsked({ view });
  };
  return (
    <>
      <Menu
        position="bottom-end"
        radius={8}
        shadow="md"
        width={260}
        withInitialFocusPlaceholder={false}
        menuItemTabIndex={0}
        transitionProps={{ duration: 0 }}
        onOpen={refresh}
      >
        <Menu.Target>
          <Button ref={button} variant="default" px={8} aria-label="Views" data-hint="Views">
            <IconBookmark />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {views.length === 0 && (
            <div className={classes.none} role="presentation">
              No views yet. Set filters, then save them.
            </div>
          )}
          <Choices label="Mine" views={views.filter(({ isOwn }) => isOwn)} current={current} onOpen={open} />
          <Choices
            label="Shared"
            views={views.filter(({ isOwn }) => !isOwn)}
            current={current}
            onOpen={open}
          />
          <Menu.Divider />
          <Menu.Item onClick={() => ask(undefined)}>Save as new view…</Menu.Item>
          {current?.mayChange && (
            <>
              <Menu.Item onClick={() => ask(current)}>Rename or share…</Menu.Item>
              <Menu.Divider />
              <Menu.Item className={classes.danger} onClick={() => remove(current)}>
                {current.shared ? 'Delete view for everyone' : 'Delete view'}
              </Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      <LazyDialogs>
        {asked && (
          <SaveView
            list={viewed.list}
            query={query}
            view={asked.view}
            onCreated={open}
            onClose={() => setAsked(undefined)}
          />
        )}
      </LazyDialogs>
    </>
  );
}

function Choices(props: {
  label: string;
  views: SavedView[];
  current: SavedView | undefined;
  onOpen: (view: SavedView) => void;
}) {
  const { label, views, current, onOpen } = props;
  if (views.length === 0) return null;
  return (
    <div className={classes.choices} role="group" aria-label={label}>
      <div className={classes.heading} role="presentation">
        {label}
      </div>
      {views.map((view) => (
        <Menu.Item
          key={view.id}
          aria-current={view.id === current?.id || undefined}
          rightSection={<span className={`dimmed small ellipsis ${classes.about}`}>{aboutOf(view)}</span>}
          onClick={() => onOpen(view)}
        >
          <bdi className={`ellipsis ${classes.name}`}>{view.name}</bdi>
        </Menu.Item>
      ))}
    </div>
  );
}

/** Whether others see an own view, or whose it is. */
const aboutOf = ({ isOwn, shared, ownerName }: SavedView): string =>
  isOwn ? (shared ? 'shared' : '') : (ownerName ?? '');
