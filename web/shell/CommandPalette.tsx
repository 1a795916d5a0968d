import '@mantine/spotlight/styles.layer.css';
import { Spotlight } from '@mantine/spotlight';
import { IconArrowRight, IconSearch } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import classes from './CommandPalette.module.css';
import { useAuth } from '../session.tsx';
import { navigation } from './navigation.ts';
import { paletteList, paletteStore, useKeptSelection } from './palette-selection.ts';
import { loadPaletteSources, type PaletteItem, type PaletteSource } from './palette-sources.ts';

/** The list hands on to its scroll area what its own type does not name. */
const scrolledByKeyboard = { viewportProps: { tabIndex: 0 } } as object;

type Group = { group: string; items: PaletteItem[] };

const settleAfter = 150;
const shortestSearch = 2;

/** Pages, actions, and what the server finds, in one field. Opened by `palette.open()`. */
export default function CommandPalette() {
  const [text, setText] = useState('');
  const navigate = useNavigate();
  const local = useLocalGroups(text);
  const found = useFound(text);
  const { groups: results = [], failed = [] } = found.data ?? {};
  const groups = [...local, ...results].filter((group) => group.items.length > 0);
  useKeptSelection(text.trim() !== '');

  return (
    <Spotlight.Root
      store={paletteStore}
      query={text}
      onQueryChange={setText}
      shortcut={null}
      scrollable
      maxHeight={420}
      centered={false}
      yOffset="14dvh"
      radius={8}
      size={600}
      overlayProps={{ blur: 0, backgroundOpacity: 0.4 }}
      classNames={{
        search: classes.search!,
        actionsGroup: classes.group!,
        actionDescription: classes.description!,
      }}
      attributes={{ content: { 'aria-label': 'Command palette' } }}
    >
      <Spotlight.Search
        placeholder="Type a command or search..."
        aria-label="Type a command or search"
        leftSection={<IconSearch size={18} stroke={1.5} />}
      />
      <Spotlight.ActionsList id={paletteList} {...scrolledByKeyboard}>
        {groups.map(({ group, items }) => (
          <Spotlight.ActionsGroup key={group} label={group}>
            {items.map((item) => (
              <Spotlight.Action
                key={item.id}
                label={item.label}
                description={item.description ?? ''}
                leftSection={<IconArrowRight size={16} stroke={1.5} />}
                onClick={() => void navigate({ to: item.to, search: item.search ?? {} } as never)}
              />
            ))}
          </Spotlight.ActionsGroup>
        ))}
        {groups.length === 0 && failed.length === 0 && (
          <Spotlight.Empty>{found.isFetching ? 'Searching…' : `Nothing found for "${text}"`}</Spotlight.Empty>
        )}
      </Spotlight.ActionsList>
      {failed.length > 0 && (
        <Spotlight.Footer role="status">{`Could not be searched: ${failed.join(', ')}`}</Spotlight.Footer>
      )}
    </Spotlight.Root>
  );
}

const matches = (text: string) => (item: PaletteItem) =>
  item.label.toLowerCase().includes(text.trim().toLowerCase());

function useSources() {
  const { hasPermission } = useAuth();
  const { data = [] } = useQuery({
    queryKey: ['palette-sources'],
    queryFn: loadPaletteSources,
    staleTime: Infinity,
  });
  return data.filter((source) => hasPermission(source.resource, 'read'));
}

function useLocalGroups(text: string): Group[] {
  const { hasPermission } = useAuth();
  const pages = navigation
    .filter((item) => hasPermission(item.resource, 'read'))
    .map((item) => ({ id: item.to, label: `Go to ${item.label}`, to: item.to }));
  const actions = useSources().flatMap((source) =>
    (source.actions ?? []).filter((item) => hasPermission(source.resource, item.action)),
  );
  return [
    { group: 'Pages', items: pages.filter(matches(text)) },
    { group: 'Actions', items: actions.filter(matches(text)) },
  ];
}

/** What the sources that answered have found, and the names of those that did not answer. */
async function findIn(sources: PaletteSource[], text: string, signal: AbortSignal) {
  const answers = await Promise.allSettled(sources.map((source) => source.find(text, signal)));
  const groups: Group[] = [];
  const failed: string[] = [];
  for (const [index, { group }] of sources.entries()) {
    const answer = answers[index]!;
    if (answer.status === 'fulfilled') groups.push({ group, items: answer.value });
    else failed.push(group);
  }
  return { groups, failed };
}

function useFound(text: string) {
  const [settled] = useDebouncedValue(text.trim(), settleAfter);
  const sources = useSources();
  return useQuery({
    queryKey: ['palette', settled, sources.map((source) => source.group)],
    queryFn: ({ signal }) => findIn(sources, settled, signal),
    enabled: settled.length >= shortestSearch && text !== '',
    placeholderData: text.length >= shortestSearch ? keepPreviousData : undefined,
    retry: false,
  });
}
