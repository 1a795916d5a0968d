import { ActionIcon, Popover, TextInput, type TextInputProps } from '@mantine/core';
import { useState, type KeyboardEvent } from 'react';
import type LoadedCalendar from './Calendar.tsx';
import { isDay } from './day.ts';
import { IconCalendar } from './icons.tsx';
import { loadPart } from './lazy-part.ts';
import { isMoment, onDay, readDay, readMoment, shownDay, shownMoment } from './typed-day.ts';
import { useTyped } from './use-typed.ts';

type Props = Omit<TextInputProps, 'value' | 'onChange' | 'type'> & {
  label: string;
  /** `2026-12-31`, with a time `2026-12-31T17:00`; or the typed text if it is not a date. */
  value?: string;
  onChange: (value: string) => void;
  /** A date and time, in the local time zone; this time where none is typed: of a start, or of an end. */
  withTime?: '00:00' | '23:59';
};

/**
 * A day, or with `withTime` a date and time, typed or chosen in a calendar. Text that is not a date stays, and the form
 * shows the error. A click and the arrow down open the calendar.
 */
export function DayField({ value = '', onChange, withTime, ...input }: Props) {
  // Loaded before it opens, because the focus moves to its content.
  const [Calendar, setCalendar] = useState<typeof LoadedCalendar>();
  const open = () =>
    void loadPart(() => import('./Calendar.tsx')).then((loaded) => setCalendar(() => loaded.default));
  const close = () => setCalendar(undefined);
  const opened = Calendar !== undefined;
  const field = useTyped({
    value,
    read: withTime ? (text) => readMoment(text, withTime) : readDay,
    show: withTime ? shownMoment : shownDay,
    onChange,
  });
  const day = isDay(value) || isMoment(value) ? value.slice(0, 10) : null;
  const choose = (chosen: string | null) => {
    if (!chosen) return;
    onChange(withTime ? onDay(chosen, value, withTime) : chosen);
    close();
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === 'Enter') field.leave();
    if (event.key !== 'ArrowDown') return;
    event.preventDefault();
    open();
  };
  return (
    <Popover
      opened={opened}
      onChange={(isOpen) => isOpen || close()}
      position="bottom-start"
      withinPortal={false}
      // Above the dialog's header.
      zIndex={1001}
      shadow="md"
      radius={8}
      trapFocus
      returnFocus
      // aria-expanded is not allowed on a text field, so the button has it.
      withRoles={false}
    >
      <Popover.Target>
        <TextInput
          autoComplete="off"
          inputWrapperOrder={['label', 'input', 'error', 'description']}
          {...input}
          // Escape closes only the calendar, not the dialog around it.
          data-mantine-stop-propagation={opened || undefined}
          value={field.text}
          onChange={(event) => field.type(event.currentTarget.value)}
          onKeyDown={onKeyDown}
          onBlur={(event) => {
            field.leave();
            input.onBlur?.(event);
          }}
          rightSection={
            <ActionIcon
              variant="subtle"
              color="gray"
              size="sm"
              disabled={input.disabled ?? false}
              aria-label={`Choose ${input.label} in a calendar`}
              aria-expanded={opened}
              onClick={opened ? close : open}
            >
              <IconCalendar stroke={1.5} />
            </ActionIcon>
          }
        />
      </Popover.Target>
      <Popover.Dropdown role="dialog" aria-label={`Calendar of ${input.label}`}>
        {Calendar && <Calendar day={day} onChoose={choose} />}
      </Popover.Dropdown>
    </Popover>
  );
}
