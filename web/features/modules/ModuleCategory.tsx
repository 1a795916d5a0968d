import { Checkbox, Group, Text } from '@mantine/core';
import { moduleLabel } from '../../../contract/module-ids.ts';
import type { ModuleGroup } from './module-groups.ts';
import classes from './ModulePicker.module.css';
import { classNames } from '../../ui/class-names.ts';

/** One category of the picker: a checkbox for all of it, or all that a search shows, and one for each module. */
export function ModuleCategory(props: {
  group: ModuleGroup;
  isSearched: boolean;
  selected: readonly string[];
  onChoose: (moduleIds: string[], chosen: boolean) => void;
}) {
  const { group, isSearched, selected, onChoose } = props;
  const ids = group.modules.map((module) => module.moduleId);
  const chosen = ids.filter((id) => selected.includes(id)).length;
  return (
    <div role="group" aria-label={group.title} className={classes.category}>
      <Group justify="space-between" wrap="nowrap">
        <Checkbox
          label={group.title}
          aria-label={`Select all ${isSearched ? 'shown in ' : ''}${group.title}`}
          classNames={classNames({ label: classes.title })}
          checked={chosen === ids.length}
          indeterminate={chosen > 0 && chosen < ids.length}
          onChange={() => onChoose(ids, chosen < ids.length)}
        />
        <Text size="xs" c="dimmed">
          {chosen}/{ids.length}
          {isSearched && ' shown'}
        </Text>
      </Group>
      <div className={classes.modules}>
        {group.modules.map(({ moduleId, description }) => (
          <Checkbox
            key={moduleId}
            label={moduleLabel(moduleId)}
            title={description}
            checked={selected.includes(moduleId)}
            onChange={(event) => onChoose([moduleId], event.currentTarget.checked)}
          />
        ))}
      </div>
    </div>
  );
}
