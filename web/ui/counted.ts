/** `1 machine`, `12,345 machines`. */
export const counted = (n: number, noun: string): string =>
  `${n.toLocaleString('en')} ${noun}${n === 1 ? '' : 's'}`;
