import { ActionIcon, Button, Chip, Group, Stack, Text, TextInput } from '@mantine/core';
import { useId } from 'react';
import { capitalize } from '../../../contract/text.ts';
import { isZone, weekdays } from '../../../contract/policies.ts';
import { policyLabels } from '../../field-labels.ts';
import { changeInPlace } from '../../ui/change-in-place.ts';
import { ErrorText } from '../../ui/ErrorText.tsx';
import { describedBy } from '../../ui/described-by.tsx';
import { SearchSelect } from '../../ui/SearchSelect.tsx';
import { IconTrash } from '../../ui/icons.tsx';
import { pressOnce } from '../../ui/press-once.ts';
import { useTyped } from '../../ui/use-typed.ts';
import { usualWindow, type PolicyFormState } from './policy-form.ts';
import { readEnd, readTime, readTimes } from './typed-time.ts';
import { allZones } from '../../ui/locale.ts';
import { Select } from '../../ui/Select.tsx';
import classes from './windows.module.css';

const modes = [
  { value: 'unset', label: 'Not set' },
  { value: 'any', label: 'At any time, whatever a tag says' },
  { value: 'windows', label: 'Only in these windows' },
];
/** Cities of today, for which many browsers list former names alone. */
const renamed = [
  'Africa/Asmara',
  'America/Atikokan',
  'America/Nuuk',
  'Asia/Ho_Chi_Minh',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Asia/Yangon',
  'Atlantic/Faroe',
  'Europe/Kyiv',
  'Pacific/Chuuk',
  'Pacific/Kanton',
  'Pacific/Pohnpei',
];
const zones = [...new Set(['UTC', ...[...allZones(), ...renamed].toSorted()])].filter(isZone);

/** When machines may be offered updates. */
export function WindowFields({ form }: { form: PolicyFormState }) {
  const { windows, windowsMode } = form.values;
  const choose = (mode: string | null) => {
    form.setFieldValue('windowsMode', (mode ?? 'unset') as typeof windowsMode);
    if (mode === 'windows' && windows.length === 0) form.setFieldValue('windows', [usualWindow()]);
  };
  return (
    <Stack data-fields gap="xs">
      <Select
        label={policyLabels.windows}
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
              onClick={() =>
                changeInPlace(() => form.insertListItem('windows', windows.at(-1) ?? usualWindow()))
              }
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
  const id = useId();
  const { windows } = form.values;
  const { zone, from, to } = windows[index] ?? {};
  const isWholeDay = from === to && readTimes(`${from}-${to}`) !== undefined;
  // a zone that the server knows under another name than this browser
  const offered = zone && !zones.includes(zone) ? [zone, ...zones] : zones;
  const problems = ['weekdays', 'from', 'to', 'zone'].flatMap((name) => {
    const error = form.errors[`${at}.${name}`];
    return typeof error === 'string' ? [`${labels[name]}: ${error}`] : [];
  });
  return (
    <Stack gap={6} role="group" aria-label={`Window ${number}`}>
      <Chip.Group multiple {...form.getInputProps(`${at}.weekdays`)}>
        <div
          className={classes.days}
          role="group"
          aria-label="Days"
          {...(form.errors[`${at}.weekdays`] !== undefined && { 'data-wrong': true, 'aria-describedby': id })}
        >
          {weekdays.map((day) => (
            <Chip key={day} value={day} size="xs">
              {capitalize(day)}
            </Chip>
          ))}
        </div>
      </Chip.Group>
      <Group gap="xs" align="flex-end">
        <TimeInput form={form} index={index} side="from" errorId={id} />
        <TimeInput form={form} index={index} side="to" errorId={id} />
        <Group gap="xs" align="flex-end" wrap="nowrap" flex="1 1 200px">
          <SearchSelect
            flex="1 1 auto"
            label={labels['zone']}
            aria-label={`Time zone, window ${number}`}
            data={offered.map((one) => ({ value: one, label: one }))}
            value={zone || null}
            {...wrongWith(form.errors[`${at}.zone`], id)}
            onChange={(chosen) => form.setFieldValue(`${at}.zone`, chosen ?? '')}
            nothingFound="No such time zone"
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            size={30}
            aria-label={`Remove window ${number}`}
            disabled={windows.length === 1}
            {...pressOnce(() => changeInPlace(() => form.removeListItem('windows', index)))}
          >
            <IconTrash />
          </ActionIcon>
        </Group>
      </Group>
      {isWholeDay && (
        <Text size="xs" c="dimmed">
          Until the same time of the next day
        </Text>
      )}
      {problems.length > 0 && <ErrorText id={id}>{problems.join('\n')}</ErrorText>}
    </Stack>
  );
}

/** The errors of a window are shown together. */
const wrongWith = (error: unknown, id: string) => ({
  error: error !== undefined,
  ...describedBy(error === undefined ? undefined : id),
});

const labels: Record<string, string> = { weekdays: 'Days', from: 'From', to: 'To', zone: 'Time zone' };

type Side = 'from' | 'to';

/** One end of a window. Both ends at once, such as a pasted `22:00-06:00`, fill both fields. */
function TimeInput(props: { form: PolicyFormState; index: number; side: Side; errorId: string }) {
  const { form, index, side } = props;
  const at = `windows.${index}.${side}`;
  const { error, onBlur } = form.getInputProps(at) as { error?: unknown; onBlur?: () => void };
  const set = (times: Partial<Record<Side, string>>) => {
    for (const [end, time] of Object.entries(times)) form.setFieldValue(`windows.${index}.${end}`, time);
  };
  const field = useTyped({
    value: form.values.windows[index]?.[side] ?? '',
    read: side === 'to' ? readEnd : readTime,
    show: (time) => time,
    onChange: (time) => set(readTimes(time) ?? { [side]: time }),
  });
  return (
    <TextInput
      w={72}
      label={labels[side]}
      aria-label={`${labels[side]}, window ${index + 1}`}
      placeholder={side === 'from' ? '22:00' : '05:00'}
      maxLength={40}
      value={field.text}
      {...wrongWith(error, props.errorId)}
      onChange={(event) => field.type(event.currentTarget.value)}
      onBlur={() => {
        field.leave();
        onBlur?.();
      }}
    />
  );
}
