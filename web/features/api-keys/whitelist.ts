import { halfWidth } from '../../ui/half-width.ts';

const quotes = /^["'`“”„‘’«»]+|["'`“”„‘’«»]+$/g;

/** Addresses and ranges, separated by commas or newlines; also in quotes, as a list in a program has them. */
export const whitelistOf = (text: string): string[] =>
  halfWidth(text)
    .split(/[,、\n]/)
    .map((entry) => entry.trim().replaceAll(quotes, '').trim())
    .filter((entry) => entry !== '');

/** Names every entry that cannot be an address; undefined if there is none. The server checks the rest. */
export function whitelistProblem(entries: readonly string[]): string | undefined {
  const wrong = entries.filter((entry) => !mayBeAddress(entry));
  const [first, ...others] = wrong;
  if (first === undefined) return undefined;
  if (others.length === 0) return `${first} is neither an IP address nor a CIDR range`;
  return `${wrong.slice(0, -1).join(', ')} and ${wrong.at(-1)} are neither IP addresses nor CIDR ranges`;
}

function mayBeAddress(entry: string): boolean {
  const [, address = '', bits = '0'] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
  const parts = address.split('.');
  if (parts.length === 4 && parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256))
    return Number(bits) <= 32;
  return (
    /^[\da-f:.]*:[\da-f:.]*$/i.test(address) && URL.canParse(`http://[${address}]/`) && Number(bits) <= 128
  );
}
