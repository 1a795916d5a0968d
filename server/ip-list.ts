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
    // a zone, as in `fe80::1%eth0`, is known only on the machine that has it
    if (entry.includes('%')) return undefined;
    const bits = prefix ?? (address.kind() === 'ipv4' ? 32 : 128);
    if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= 96)
      return { address: address.toIPv4Address().toString(), prefix: bits - 96, family: 'ipv4' };
    return { address: address.toString(), prefix: bits, family: address.kind() };
  } catch {
    return undefined;
  }
}

/** Entries of a whitelist that are neither an address nor a CIDR range. */
export const wrongEntries = (whitelist: string[]): string[] =>
  whitelist.filter((entry) => !parseEntry(entry));

/** Whether one entry of the list allows every address of `entry`. */
export function isCovered(whitelist: string[], entry: string): boolean {
  const narrow = parseEntry(entry);
  return whitelist.map(parseEntry).some((wide) => {
    if (!narrow || wide?.family !== narrow.family || wide.prefix > narrow.prefix) return false;
    const list = new BlockList();
    list.addSubnet(wide.address, wide.prefix, wide.family);
    return list.check(narrow.address, narrow.family);
  });
}

const mostKnown = 1000;

/** Whether an address is on the list; an empty list allows every address. IPv4-mapped IPv6 counts as IPv4. */
export function createIpCheck(whitelist: string[]): (address: string) => boolean {
  if (whitelist.length === 0) return () => true;
  // one for each family: a BlockList compares IPv4 with IPv6 entries as well, so that `::/0` would allow all of it
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const entry of whitelist) {
    const parsed = parseEntry(entry);
    if (parsed) lists[parsed.family].addSubnet(parsed.address, parsed.prefix, parsed.family);
  }
  const check = (address: string): boolean => {
    if (isIP(address) === 0) return false;
    const plain = ipaddr.process(address.replace(/%.*$/, ''));
    return lists[plain.kind()].check(plain.toString(), plain.kind());
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
