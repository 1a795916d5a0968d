const moment = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

/** `20 Nov 2026, 09:30:00`, in the zone of the reader. */
export const momentText = (iso: string): string => moment.format(new Date(iso));
