import { Button } from '@mantine/core';
import { useState } from 'react';
import type { SavedView } from '../../../contract/views.ts';
import { sentenceOf } from '../../api-error.ts';
import { differingFields, useEdit, type Clash } from '../../edit-conflict.ts';
import { ConflictDialog } from '../../ui/ConflictDialog.tsx';
import { Chip } from '../../ui/FilterChips.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { IconBookmark } from '../../ui/icons.tsx';
import { toast } from '../../ui/toast.tsx';
import { updateView } from './queries.ts';
import { useCurrentView, type ViewedList } from './use-current-view.ts';
import { aboutView } from './view-path.ts';
import { writeQuery } from './view-query.ts';
import classes from './views.module.css';

/**
 * The open view, whether the filters differ from it, and which of its filters no longer exist. `openedWith`: the search
 * parameters that the list was opened with.
 */
export default function OpenView(viewed: ViewedList & { openedWith: ViewedList['search'] }) {
  const { current, isMissing, query, shows, lost, open, leave } = useCurrentView(viewed);
  const [seen, setSeen] = useState(current);
  const isAsOpened = query === writeQuery(viewed.params.read(viewed.openedWith), viewed.params);
  const isChanged = current !== undefined && !shows(current);
  // What is on the screen is what is stored: that version is seen, whoever saved it.
  if (current && (current.id !== seen?.id || (!isChanged && current.updatedAt !== seen.updatedAt)))
    setSeen(current);
  const isChangedByOther = isChanged && seen !== undefined && shows(seen) && seen.query !== current.query;
  const name = current?.name ?? (isMissing ? 'A view that was deleted, or is not shared' : undefined);
  // after a reload nobody knows who changed what
  const difference = isChangedByOther
    ? 'Changed by someone else'
    : isAsOpened
      ? 'Differs from the saved view'
      : 'Unsaved changes';
  if (name === undefined) return null;
  return (
    <>
      <Chip
        icon={<IconBookmark size={13} />}
        label={name}
        removeLabel={`Leave view ${current?.name ?? ''}`.trim()}
        onRemove={() => leave({ id: viewed.search.view })}
      />
      {lost.length > 0 && (
        <span className="dimmed small" role="status">
          Opened without {lost.join(', ')}, which {lost.length === 1 ? 'is no filter' : 'are no filters'} here
          any more
        </span>
      )}
      {isChanged && (
        <span className={classes.changed} role="status">
          <StatusBadge tone="amber">{difference}</StatusBadge>
        </span>
      )}
      {current?.mayChange && seen?.id === current.id && (
        <SaveChanges
          key={current.id}
          view={current}
          seen={seen}
          query={query}
          isChanged={isChanged && !isChangedByOther}
          onOpen={open}
        />
      )}
      {isChanged && (
        <Button size="compact-xs" variant="subtle" onClick={() => current && open(current)}>
          {isChangedByOther ? 'Show' : 'Discard'}
        </Button>
      )}
    </>
  );
}

/** Saves the filters as those of the view, unless a colleague has saved others since it was opened. */
function SaveChanges(props: {
  view: SavedView;
  /** The version that the user's changes began from. */
  seen: SavedView;
  query: string;
  isChanged: boolean;
  onOpen: (view: SavedView) => void;
}) {
  const { view, seen, query, isChanged, onOpen } = props;
  const edit = useEdit({
    subject: aboutView(view),
    save: (changed: { query: string }, { updatedAt }) => updateView(view.id, { ...changed, updatedAt }),
    onSaved: (saved) => void toast({ message: `View ${saved.name} saved`, subject: aboutView(saved) }),
    onGivenUp: () => onOpen(view),
  });
  return (
    <>
      {isChanged && (
        <Button
          size="compact-xs"
          variant="subtle"
          loading={edit.busy}
          onClick={() => edit.submit({ query }, seen)}
        >
          Save Changes
        </Button>
      )}
      {isChanged && edit.error && (
        <span className={classes.failed} role="alert">
          {sentenceOf(edit.error, 'The view was not saved')}
        </span>
      )}
      <ConflictDialog edit={edit} rowsOf={conflictRows} />
    </>
  );
}

const conflictRows = (clash: Clash) => differingFields(clash, { query: 'Filters' }, { query: filtersOf });

const filtersOf = (query: string): string =>
  [...new URLSearchParams(query)].map(([name, value]) => `${name}: ${value}`).join(', ') || 'None';
