import { DateInput, type DateInputProps } from '@mantine/dates';
import '@mantine/dates/styles.layer.css';
import { useState } from 'react';
import classes from './licenses.module.css';
import { firstDay, lastDay, type Day } from './license-term.ts';

const navigation = {
  previousMonth: 'Previous month',
  nextMonth: 'Next month',
  previousYear: 'Previous year',
  nextYear: 'Next year',
  previousDecade: 'Previous decade',
  nextDecade: 'Next decade',
  monthLevelControl: 'Choose a month',
  yearLevelControl: 'Choose a year',
};

type Props = Omit<DateInputProps, 'onChange' | 'value'> & {
  value: Day | null;
  onChange: (day: Day | null) => void;
};

/** A day, typed or chosen in a calendar. */
export function DayInput(props: Props) {
  const [opened, setOpened] = useState(false);
  return (
    <DateInput
      valueFormat="D MMM YYYY"
      minDate={firstDay}
      maxDate={lastDay}
      hideOutsideDates
      weekendDays={[]}
      ariaLabels={navigation}
      inputWrapperOrder={['label', 'input', 'error', 'description']}
      classNames={{ day: classes.day!, weekday: classes.weekday! }}
      popoverProps={{
        withinPortal: false,
        // Above the dialog's header.
        zIndex: 1001,
        shadow: 'md',
        radius: 8,
        onOpen: () => setOpened(true),
        onClose: () => setOpened(false),
      }}
      // Escape closes the calendar, and not the dialog around it.
      data-mantine-stop-propagation={opened || undefined}
      {...props}
    />
  );
}
