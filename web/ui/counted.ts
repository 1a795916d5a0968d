import { countText } from './numbers.ts';
/** `1 machine`, `12,345 machines`. */
export const counted = (n: number, one: string, many = `${one}s`): string =>
  `${countText(n)} ${n === 1 ? one : many}`;
