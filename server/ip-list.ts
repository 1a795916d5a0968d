import ipaddr from 'ipaddr.js';
import { BlockList, isIP } from 'node:net';

type Range = { address: ipaddr.IPv4 | ipaddr.IPv6; prefix: number };

/** Parses an address or a CIDR range; undefined for anything else. */
function parseEntry(entry: string): Range | undefined {
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
      return { address: address.toIPv4Address(), prefix: bits - 96 };
    return { address, prefix: bits };
  } catch {
    return undefined;
  }
}

/** Entries of a whitelist that are neither an address nor a CIDR range. */
export const wrongEntries = (whitelist: string[]): string[] =>
  whitelist.filter((entry) => !parseEntry(entry));

/** Whether one entry of the whitelist contains all of the other; each is parsed once, for 500 entries on both sides. */
export function createCoverCheck(whitelist: string[]): (entry: string) => boolean {
  const ranges = whitelist.map(parseEntry);
  return (entry) => {
    const narrow = parseEntry(entry);
    return ranges.some((wide) => wide && narrow && contains(wide, narrow));
  };
}

const contains = (wide: Range, { address, prefix }: Range): boolean =>
  wide.address.kind() === address.kind() && wide.prefix <= prefix && address.match(wide.address, wide.prefix);

const mostKnown = 1000;

/** Whether an address is on the list; an empty list allows every address. IPv4-mapped IPv6 counts as IPv4. */
export function createIpCheck(whitelist: string[]): (address: string) => boolean {
  if (whitelist.length === 0) return () => true;
  // one for each family: a BlockList compares IPv4 with IPv6 entries as well, so that `::/0` would allow all of it
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const entry of whitelist) {
    const parsed = parseEntry(entry);
    if (!parsed) continue;
    const family = parsed.address.kind();
    lists[family].addSubnet(parsed.address.toString(), parsed.prefix, family);
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
