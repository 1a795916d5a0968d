import { Button, Group, Input, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useId, useState, type KeyboardEvent, type ReactNode } from 'react';
import { moduleLabel } from '../../../contract/module-ids.ts';
import type { Module } from '../../../contract/modules.ts';
import { IconSearch } from '../../ui/icons.tsx';
import { ListCount } from '../../ui/ListCount.tsx';
import { ModuleCategory } from './ModuleCategory.tsx';
import { groupModules, searchGroups, withModules } from './module-groups.ts';
import { modulesQuery } from './queries.ts';
import classes from './ModulePicker.module.css';

type Props = {
  value: string[];
  onChange: (moduleIds: string[]) => void;
  error?: ReactNode;
};

/** Modules by category, with a search and a checkbox per category that selects all of it. */
export function ModulePicker(props: Props) {
  const list = useQuery(modulesQuery);
  const id = useId();
  return (
    <div
      role="group"
      aria-label="Modules"
      {...(props.error && { 'data-wrong': true, 'aria-describedby': id })}
    >
      <Group justify="space-between" mb={3}>
        <Input.Label component="div" size="xs">
          Modules
        </Input.Label>
        <Text size="xs" c="dimmed" role="status">
          {props.value.length > 0 && `${props.value.length} selected`}
        </Text>
      </Group>
      <div className={classes.box}>
        {list.data ? (
          <Choices {...props} offered={list.data} />
        ) : list.isError ? (
          <NotLoaded onRetry={() => void list.refetch()} />
        ) : (
          <Loading />
        )}
      </div>
      {props.error && (
        <Input.Error id={id} mt={4}>
          {props.error}
        </Input.Error>
      )}
    </div>
  );
}

function Choices({ value, onChange, offered }: Props & { offered: Module[] }) {
  const [text, setText] = useState('');
  const shown = searchGroups(groupModules([...offered, ...retired(offered, value)]), text);
  const found = shown.reduce((sum, { modules }) => sum + modules.length, 0);
  return (
    <div onKeyDown={moveBetweenBoxes}>
      <TextInput
        type="search"
        variant="unstyled"
        className={classes.search}
        placeholder="Search modules..."
        aria-label="Search modules"
        leftSection={<IconSearch size={14} />}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
      />
      <ListCount found={text.trim() ? found : undefined} />
      <div className={classes.list}>
        {shown.map((group) => (
          <ModuleCategory
            key={group.category}
            group={group}
            isSearched={text.trim() !== ''}
            selected={value}
            onChoose={(ids, chosen) => onChange(withModules(value, ids, chosen))}
          />
        ))}
        {shown.length === 0 && (
          <Text c="dimmed" py="md" ta="center">
            {text ? 'No module has this name.' : 'There are no modules.'}
          </Text>
        )}
      </div>
    </div>
  );
}

/** A license keeps modules that are no longer offered until a user removes them. */
const retired = (offered: Module[], value: string[]): Module[] =>
  value.filter((id) => !offered.some((module) => module.moduleId === id)).map(unknownModule);

const unknownModule = (moduleId: string): Module => ({
  moduleId,
  name: moduleLabel(moduleId),
  description: 'No longer offered',
  metadata: {},
});

/** Read-only modules of a license: a line for each category, or one line until the categories are loaded. */
export function ModulesByCategory({ moduleIds }: { moduleIds: readonly string[] }) {
  const offered = useQuery(modulesQuery).data;
  if (moduleIds.length === 0) return '—';
  if (!offered) return moduleIds.map(moduleLabel).join(', ');
  const held = moduleIds.map((id) => offered.find((module) => module.moduleId === id) ?? unknownModule(id));
  return groupModules(held).map((group) => (
    <div key={group.category}>
      <Text span c="dimmed">
        {group.title}:{' '}
      </Text>
      {group.modules.map((module) => moduleLabel(module.moduleId)).join(', ')}
    </div>
  ));
}

function moveBetweenBoxes(event: KeyboardEvent<HTMLElement>) {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  const stops = [...event.currentTarget.querySelectorAll('input')];
  const next = step && stops[stops.findIndex((stop) => stop === document.activeElement) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

function NotLoaded({ onRetry }: { onRetry: () => void }) {
  return (
    <Stack align="center" gap="xs" py="md" role="alert">
      <Text c="var(--mantine-color-error)">Failed to load modules</Text>
      <Button variant="default" onClick={onRetry}>
        Retry
      </Button>
    </Stack>
  );
}

function Loading() {
  return (
    <Stack gap="sm" p="sm" role="group" aria-busy aria-label="Loading modules">
      {[60, 45, 70, 50].map((width) => (
        <Skeleton key={width} height={12} width={`${width}%`} />
      ))}
    </Stack>
  );
}
