import ipaddr from 'ipaddr.js';
import { BlockList, isIP } from 'node:net';

/** Parses an address or a CIDR range; undefined for anything else. */
function parseEntry(entry: string): { address: string; prefix: number; family: 'ipv4' | 'ipv6' } | undefined {
  try {
    const [address, prefix] = entry.includes('/')
      ? ipaddr.parseCIDR(entry)
      : [ipaddr.parse(entry), undefined];
    // ipaddr.js parses `10.1` and `0x7f.1` as addresses, like inet_aton, which is misleading in a whitelist.
    if (isIP(entry.replace(/\/.*$/, '')) === 0) return undefined;
    const family = address.kind();
    return { address: address.toString(), prefix: prefix ?? (family === 'ipv4' ? 32 : 128), family };
  } catch {
    return undefined;
  }
}

/** Entries of a whitelist that are neither an address nor a CIDR range. */
export const wrongEntries = (whitelist: string[]): string[] =>
  whitelist.filter((entry) => !parseEntry(entry));

const mostKnown = 1000;

/** Whether an address is on the list; an empty list allows every address. IPv4-mapped IPv6 counts as IPv4. */
export function createIpCheck(whitelist: string[]): (address: string) => boolean {
  if (whitelist.length === 0) return () => true;
  const list = new BlockList();
  for (const entry of whitelist) {
    const parsed = parseEntry(entry);
    if (parsed) list.addSubnet(parsed.address, parsed.prefix, parsed.family);
  }
  const check = (address: string): boolean => {
    const family = isIP(address);
    return family !== 0 && list.check(address, family === 4 ? 'ipv4' : 'ipv6');
  };
  // checking takes longer than everything else that a key is checked for
  const known = new Map<string, boolean>();
  return (address) => {
    const result = known.get(address) ?? check(address);
    if (known.size >= mostKnown) known.clear();
    known.set(address, result);
    return result;
  };
}
