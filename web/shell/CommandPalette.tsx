import '@mantine/spotlight/styles.layer.css';
import { Spotlight } from '@mantine/spotlight';
import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useDebouncedValue } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';
import { maySee } from '../../contract/permissions.ts';
import { IconBolt, IconHistory, IconLogout, IconMoon, IconSearch, IconSun, type Icon } from '../ui/icons.tsx';
import classes from './CommandPalette.module.css';
import { retryOnce } from '../query-client.ts';
import { useAuth } from '../session.tsx';
import { furtherPages, isShown, navigation } from './navigation.ts';
import { takeEarlyKeys } from './early-keys.ts';
import { nameSelected, palette, paletteList, paletteStore, useKeptSelection } from './palette-selection.ts';
import { loadPaletteSources, mostFound, type PaletteItem, type PaletteSource } from './palette-sources.ts';
import { recentRecords } from './recent-records.ts';
import { screenActions, type ScreenAction } from './screen-actions.ts';
import { classNames } from '../ui/class-names.ts';
import { folded } from '../ui/folded.ts';
import { isDialogOpen } from '../ui/open-dialogs.ts';
import { removeScrollProps } from '../ui/DialogFrame.tsx';

/** The list passes these props on to its scroll area, although its type does not have them. */
const scrolledByKeyboard = { viewportProps: { tabIndex: 0 } } as object;
const ofOptions = { viewportProps: { tabIndex: 0, role: 'listbox', 'aria-label': 'Results' } } as object;

/** An entry of the list, with its action, and the keywords that match in addition to its label. */
type Entry = Pick<PaletteItem, 'id' | 'label' | 'description'> & {
  icon: Icon;
  words?: string;
  choose: () => void;
};
type Group = { group: string; entries: Entry[] };

/** `Spotlight.Action` drops its own `id`; with a space in it, it would name two. */
const asOption = (group: string, { id }: Entry) => ({
  role: 'option',
  attributes: { root: { id: encodeURIComponent(`${group} ${id}`) } },
});

const delay = 150;
const shortestSearch = 2;

/**
 * Searches pages, actions, and records of the server. Opens once it has loaded, and whenever it is `asked` for again, but
 * not over a dialog that was opened while it loaded.
 */
export default function CommandPalette({ asked }: { asked: number }) {
  const { permissions } = useAuth();
  // Mantine records where to return the focus, and tells what to list, only when it sees the palette open.
  useEffect(() => {
    if (!isDialogOpen()) palette.open();
    // oxlint-disable-next-line react/exhaustive-effect-dependencies -- each time that it is asked for
  }, [asked]);
  useEffect(() => palette.close, []);
  const [text, setText] = useState('');
  /** As they were when it opened. */
  const [ofScreen, setOfScreen] = useState<Entry[]>([]);
  const [recent, setRecent] = useState<ReturnType<typeof recentRecords>>([]);
  const entryOf = useEntryOf();
  // of those that the user may read now: a preview of a role may begin while it is open
  const readable = recent.filter(({ needs }) => maySee(needs, permissions));
  const recently = readable.map(({ to, label }) => entryOf({ id: `recent ${to}`, label, to }, IconHistory));
  const local = [
    // what is typed finds them as all others
    { group: 'Recent', entries: text.trim() === '' ? recently : [] },
    { group: 'This screen', entries: matching(text, ofScreen) },
    ...useLocalGroups(text),
  ];
  const found = useFound(text);
  const { failed } = found;
  const results = (found.data?.groups ?? []).map(({ group, icon, items }) => ({
    group,
    entries: items.map((item) => entryOf(item, icon)),
  }));
  const groups = [...local, ...results].filter((group) => group.entries.length > 0);
  useKeptSelection(text.trim() !== '');
  /** The text whose first result Enter asked for before it was found. */
  const awaited = useRef<string>(undefined);
  useEffect(() => {
    if (awaited.current === undefined || found.isOutdated) return;
    const selected = document.querySelector<HTMLElement>(`#${paletteList} [data-selected]`);
    if (awaited.current === text) selected?.click();
    awaited.current = undefined;
  });

  return (
    <Spotlight.Root
      store={paletteStore}
      query={text}
      onQueryChange={setText}
      onSpotlightOpen={() => {
        found.loadAgain();
        setOfScreen(screenActions().map(entryOfAction));
        setRecent(recentRecords().filter(({ to }) => to !== window.location.pathname));
      }}
      shortcut={null}
      scrollable
      maxHeight={420}
      centered={false}
      yOffset="14dvh"
      radius={8}
      size={600}
      overlayProps={{ blur: 0, backgroundOpacity: 0.4 }}
      removeScrollProps={removeScrollProps}
      classNames={classNames({
        search: classes.search,
        actionsList: classes.list,
        actionsGroup: classes.group,
        actionDescription: classes.description,
      })}
      // with the id of the library, the body would be read as the description of the dialog
      attributes={{ content: { 'aria-label': 'Command palette' }, body: { id: 'palette' } }}
    >
      <Spotlight.Search
        placeholder="Type a command or search..."
        aria-label="Type a command or search"
        // of what the service searches
        maxLength={200}
        ref={nameSelected}
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={groups.length > 0}
        aria-controls={paletteList}
        onKeyDownCapture={(event) => {
          const { selected } = paletteStore.getState();
          const isLocal = selected >= 0 && selected < local.flatMap(({ entries }) => entries).length;
          // none yet, or those of what was typed before: the ones of this text may be others
          if (event.key !== 'Enter' || isLocal || !found.isOutdated) return;
          event.stopPropagation();
          awaited.current = text;
        }}
        onFocus={({ currentTarget: { value } }) => {
          const [early = '', ...afterEnter] = takeEarlyKeys().split('\n');
          setText(value + early);
          if (afterEnter.length > 0) awaited.current = value + early;
        }}
        leftSection={<IconSearch size={18} stroke={1.5} />}
      />
      <Spotlight.ActionsList id={paletteList} {...(groups.length > 0 ? ofOptions : scrolledByKeyboard)}>
        {groups.map(({ group, entries }) => (
          <Spotlight.ActionsGroup key={group} label={group} role="group" aria-label={group}>
            {entries.map((entry) => (
              <Spotlight.Action
                key={entry.id}
                {...asOption(group, entry)}
                label={entry.label}
                description={numbersInPlace(entry.description)}
                leftSection={<entry.icon size={16} stroke={1.5} />}
                onClick={entry.choose}
              />
            ))}
          </Spotlight.ActionsGroup>
        ))}
        {groups.length === 0 && failed.length === 0 && (
          <Spotlight.Empty role="status">
            {found.isFetching ? 'Searching…' : `Nothing found for "${text}"`}
          </Spotlight.Empty>
        )}
      </Spotlight.ActionsList>
      {text === '' && <Kinds />}
      {failed.length > 0 && (
        <Spotlight.Footer role="status">{`Could not be searched: ${failed.join(', ')}`}</Spotlight.Footer>
      )}
    </Spotlight.Root>
  );
}

const entryOfAction = ({ label, press }: ScreenAction): Entry => ({
  id: `screen ${label}`,
  label,
  icon: IconBolt,
  choose: press,
});

const matching = (text: string, entries: Entry[]) => {
  const wanted = text.trim().toLowerCase();
  return entries.filter(({ label, words = '' }) => `${label} ${words}`.toLowerCase().includes(wanted));
};

function useEntryOf() {
  const navigate = useNavigate();
  return (item: PaletteItem, icon: Icon): Entry => ({
    ...item,
    icon,
    choose: () => void navigate({ to: item.to, search: item.search ?? {} } as never),
  });
}

function useSources() {
  const { permissions } = useAuth();
  const {
    data = [],
    isLoading,
    isError,
    refetch,
  } = useQuery({
    queryKey: ['palette-sources'],
    queryFn: loadPaletteSources,
    staleTime: Infinity,
    retry: retryOnce,
  });
  const sources = data.filter((source) => isShown(source, permissions));
  return { sources, isLoading, isError, refetch };
}

/** What is searched, and how one kind alone is. */
function Kinds() {
  const { sources } = useSources();
  const [first] = sources;
  if (!first) return null;
  const kinds = sources.map((source) => `${source.group} (${startOf(source, sources)}:)`);
  return (
    <Spotlight.Footer className={classes.kinds ?? ''}>
      {`Searches ${kinds.join(', ')}. Begin with “${startOf(first, sources)}:” to search ${first.group} alone.`}
    </Spotlight.Footer>
  );
}

function useLocalGroups(text: string): Group[] {
  const { hasPermission, permissions } = useAuth();
  const entryOf = useEntryOf();
  const commands = useCommands();
  const pages = [...navigation, ...furtherPages]
    .filter((page) => isShown(page, permissions))
    .map(({ label, to, icon, ...page }) => ({
      ...entryOf({ id: to, label: `Go to ${label}`, to }, icon),
      words: 'words' in page ? page.words : '',
    }));
  const actions = useSources().sources.flatMap((source) =>
    source.resource && hasPermission(source.resource, 'create')
      ? (source.creates ?? []).map((item) => entryOf(item, IconBolt))
      : [],
  );
  return [
    { group: 'Pages', entries: matching(text, pages) },
    { group: 'Actions', entries: matching(text, [...actions, ...commands]) },
  ];
}

function useCommands(): Entry[] {
  const { logout } = useAuth();
  const { setColorScheme } = useMantineColorScheme();
  const isDark = useComputedColorScheme('light', { getInitialValueInEffect: false }) === 'dark';
  return [
    {
      id: 'color scheme',
      label: isDark ? 'Use light colors' : 'Use dark colors',
      words: 'dark light mode theme',
      icon: isDark ? IconSun : IconMoon,
      choose: () => setColorScheme(isDark ? 'light' : 'dark'),
    },
    {
      id: 'log out',
      label: 'Log out',
      words: 'logout sign out',
      icon: IconLogout,
      choose: logout,
    },
  ];
}

/** The results of the sources that responded, and the names of those that failed. */
async function findIn(sources: PaletteSource[], text: string, signal: AbortSignal) {
  const answers = await Promise.allSettled(sources.map((source) => source.find(text, signal)));
  const groups: { group: string; icon: Icon; items: PaletteItem[] }[] = [];
  const failed: string[] = [];
  for (const [index, source] of sources.entries()) {
    const { group, icon } = source;
    const answer = answers[index];
    if (answer?.status === 'fulfilled')
      groups.push({ group, icon, items: withAll(source, text, answer.value) });
    else failed.push(group);
  }
  return { groups: namedFirst(groups, text), failed };
}

/** Kinds with a record of that name come before those that only lead to it: a machine before the license it runs on. */
function namedFirst<Found extends { items: PaletteItem[] }>(groups: Found[], text: string): Found[] {
  const words = folded(text).split(/\s+/);
  const isNamed = ({ items }: Found) =>
    items.some(
      ({ id, label }) => !id.startsWith('all ') && words.some((word) => folded(label).includes(word)),
    );
  return [...groups.filter(isNamed), ...groups.filter((group) => !isNamed(group))];
}

/** With the list of all that the text finds, where these may be only the first. */
function withAll({ group, list }: PaletteSource, text: string, items: PaletteItem[]): PaletteItem[] {
  if (!list || items.length < mostFound) return items;
  const label = `All ${group.toLowerCase()}${text && ` with "${text}"`}`;
  return [...items, { id: `all ${group}`, label, ...(text ? list(text) : { to: list('').to }) }];
}

/** `m: lyon` searches only in the first kind that begins with m. */
function scopeOf(text: string, all: PaletteSource[]) {
  const [, kind, rest = ''] = /^(\w+):(.*)$/.exec(text) ?? [];
  const source = kind === undefined ? undefined : kindOf(kind, all);
  return source
    ? { sources: [source], text: rest.trim(), isScoped: true }
    : { sources: all, text, isScoped: false };
}

const kindOf = (start: string, all: PaletteSource[]) =>
  all.find(({ group }) => group.toLowerCase().startsWith(start.toLowerCase()));

/** A number after a Hebrew or Arabic name would stand before it, apart from the letters after it. */
const numbersInPlace = (description = '') => description.replaceAll(/ · (?=\d)/g, ' · \u200e');

/** The fewest letters that search a kind alone: `c` for customers, `ch` for change requests. */
function startOf(source: PaletteSource, all: PaletteSource[]): string {
  const group = source.group.toLowerCase();
  const length = Array.from(group, (_, at) => at + 1).find(
    (end) => kindOf(group.slice(0, end), all) === source,
  );
  return group.slice(0, length);
}

function useFound(typed: string) {
  const all = useSources();
  const { sources, text, isScoped } = scopeOf(typed.trim(), all.sources);
  const [settled] = useDebouncedValue(text, delay);
  const { data, isFetching, isLoading, isPlaceholderData } = useQuery({
    queryKey: ['palette', settled, sources.map((source) => source.group)],
    queryFn: ({ signal }) => findIn(sources, settled, signal),
    enabled: !all.isLoading && (isScoped || (settled.length >= shortestSearch && text !== '')),
    ...((isScoped || text.length >= shortestSearch) && { placeholderData: keepPreviousData }),
    retry: false,
  });
  // until the sources have loaded, nothing can be found: neither is it known what `c:` stands for
  const isOutdated = all.isLoading || isPlaceholderData || isLoading || settled !== text;
  const failed = all.isError ? ['records'] : (data?.failed ?? []);
  const loadAgain = () => all.isError && void all.refetch();
  return { data, failed, loadAgain, isFetching: isFetching || all.isLoading, isOutdated };
}
