import { DatePicker } from '@mantine/dates';
import '@mantine/dates/styles.layer.css';
import classes from './Calendar.module.css';
import { firstDay, lastDay } from './day.ts';
import { classNames } from './class-names.ts';
import { firstDayOfWeek } from './locale.ts';

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

/** A month to choose a day from. Loaded on demand, because most users type the date. */
export default function Calendar({
  day,
  onChoose,
}: {
  day: string | null;
  onChoose: (day: string | null) => void;
}) {
  return (
    <DatePicker
      value={day}
      onChange={onChoose}
      {...(day && { defaultDate: day })}
      minDate={firstDay}
      maxDate={lastDay}
      hideOutsideDates
      firstDayOfWeek={firstDayOfWeek()}
      __stopPropagation
      weekendDays={[]}
      ariaLabels={navigation}
      classNames={classNames({ day: classes.day, weekday: classes.weekday })}
    />
  );
}
