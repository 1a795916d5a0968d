import { ActionIcon, Button, Chip, Group, Select, Stack, TextInput } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { isZone, weekdays } from '../../../contract/policies.ts';
import { SearchSelect } from '../../ui/SearchSelect.tsx';
import { fieldLabels, usualWindow } from './policy-form.ts';
import type { PolicyFormState } from './PolicyFields.tsx';

const modes = [
  { value: 'unset', label: 'Not set' },
  { value: 'any', label: 'At any time, whatever a tag says' },
  { value: 'windows', label: 'Only in these windows' },
];
const zones = [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])].filter(isZone);

/** When machines may be offered updates. */
export function WindowFields({ form }: { form: PolicyFormState }) {
  const { windows, windowsMode } = form.values;
  const choose = (mode: string | null) => {
    form.setFieldValue('windowsMode', (mode ?? 'unset') as typeof windowsMode);
    if (mode === 'windows' && windows.length === 0) form.setFieldValue('windows', [usualWindow()]);
  };
  return (
    <Stack gap="xs">
      <Select
        label={fieldLabels.windows}
        data={modes}
        allowDeselect={false}
        value={windowsMode}
        onChange={choose}
        error={form.errors['windows']}
      />
      {windowsMode === 'windows' && (
        <>
          {windows.map((_, index) => (
            // oxlint-disable-next-line react/no-array-index-key -- a window has no id, and the fields hold no state
            <WindowRow key={index} form={form} index={index} />
          ))}
          <Group>
            <Button
              size="compact-sm"
              variant="default"
              disabled={windows.length >= 20}
              onClick={() => form.insertListItem('windows', windows.at(-1) ?? usualWindow())}
            >
              Add Window
            </Button>
          </Group>
        </>
      )}
    </Stack>
  );
}

function WindowRow({ form, index }: { form: PolicyFormState; index: number }) {
  const at = `windows.${index}`;
  const number = index + 1;
  const { windows } = form.values;
  return (
    <Stack gap={6} role="group" aria-label={`Window ${number}`}>
      <Chip.Group multiple {...form.getInputProps(`${at}.weekdays`)}>
        <Group gap={4}>
          {weekdays.map((day) => (
            <Chip key={day} value={day} size="xs">
              {day.slice(0, 1).toUpperCase() + day.slice(1)}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
      {form.errors[`${at}.weekdays`] && <span role="alert">{form.errors[`${at}.weekdays`]}</span>}
      <Group gap="xs" align="flex-start" wrap="nowrap">
        <TextInput
          w={72}
          aria-label={`From, window ${number}`}
          placeholder="22:00"
          maxLength={5}
          {...form.getInputProps(`${at}.from`)}
        />
        <TextInput
          w={72}
          aria-label={`To, window ${number}`}
          placeholder="05:00"
          maxLength={5}
          {...form.getInputProps(`${at}.to`)}
        />
        <SearchSelect
          flex={1}
          aria-label={`Time zone, window ${number}`}
          data={zones.map((zone) => ({ value: zone, label: zone }))}
          value={windows[index]?.zone ?? null}
          error={form.errors[`${at}.zone`]}
          onChange={(zone) => form.setFieldValue(`${at}.zone`, zone ?? '')}
          nothingFound="No such time zone"
        />
        <ActionIcon
          variant="subtle"
          color="gray"
          size={30}
          aria-label={`Remove window ${number}`}
          disabled={windows.length === 1}
          onClick={() => form.removeListItem('windows', index)}
        >
          <IconTrash size={15} stroke={1.75} aria-hidden />
        </ActionIcon>
      </Group>
    </Stack>
  );
}
