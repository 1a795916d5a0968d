import { Button } from '@mantine/core';
import { Chip } from '../../ui/FilterChips.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { IconBookmark } from '../../ui/icons.tsx';
import { useCurrentView, type ViewedList } from './use-current-view.ts';
import { useViewChanges } from './use-view-changes.ts';
import classes from './views.module.css';

/** The open view, whether the filters differ from it, and which of its filters no longer exist. */
export default function OpenView(viewed: ViewedList) {
  const { current, query, isChanged, lost, open, leave } = useCurrentView(viewed);
  const { save } = useViewChanges({ onRemoved: leave, onRestored: open });
  if (!current) return null;
  return (
    <>
      <Chip
        icon={<IconBookmark size={13} stroke={1.75} />}
        label={current.name}
        removeLabel={`Leave view ${current.name}`}
        onRemove={leave}
      />
      {lost.length > 0 && (
        <span className={classes.lost} role="status">
          Opened without {lost.join(', ')}, which is no filter here any more
        </span>
      )}
      {isChanged && (
        <span className={classes.changed} role="status">
          <StatusBadge tone="amber">Unsaved changes</StatusBadge>
        </span>
      )}
      {isChanged && current.mayChange && (
        <Button
          size="compact-xs"
          variant="subtle"
          loading={save.isPending}
          onClick={() => save.mutate({ view: current, query })}
        >
          Save changes
        </Button>
      )}
      {isChanged && (
        <Button size="compact-xs" variant="subtle" onClick={() => open(current)}>
          Discard
        </Button>
      )}
    </>
  );
}
