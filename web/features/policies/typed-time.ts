/** Parses `7:30` or `22.00` to `07:30` and `22:00`; returns other text unchanged, for the contract to refuse. */
export function readTime(text: string): string {
  const [, hour = '', minute = ''] = /^\s*(\d{1,2})[:.](\d\d)\s*$/.exec(text) ?? [];
  return hour === '' || Number(hour) > 23 || Number(minute) > 59
    ? text
    : `${hour.padStart(2, '0')}:${minute}`;
}

/** The two times of `22:00-06:00` or `22:00 to 06:00`; undefined for other text, and until both are typed. */
export function readTimes(text: string): { from: string; to: string } | undefined {
  const whole = /^\s*(\d{1,2}[:.]\d\d)\s*(?:-|–|—|\bto\b)\s*(\d{1,2}[:.]\d\d)\s*$/;
  const [, from, to] = whole.exec(text) ?? [];
  return from && to ? { from: readTime(from), to: readTime(to) } : undefined;
}
