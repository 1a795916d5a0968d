import ipaddr from 'ipaddr.js';

/**
 * The network counted as one caller: an IPv4 address, or the /64 of an IPv6 address, since one machine may use any
 * address of it. Text that is not an address is returned unchanged.
 */
export function networkOf(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  if (address.kind() === 'ipv4') return address.toString();
  return `${new ipaddr.IPv6([...(address as ipaddr.IPv6).parts.slice(0, 4), 0, 0, 0, 0]).toString()}/64`;
}

/** Whether an address is a loopback address, including the IPv4-mapped form. */
export const isLoopback = (ip: string): boolean =>
  ipaddr.isValid(ip) && ipaddr.process(ip).range() === 'loopback';

/** `X-Forwarded-For` without ports: some proxies write `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
export const withoutPorts = (forwarded: string): string =>
  forwarded
    .split(',')
    .map((entry) => bare(entry.trim()))
    .join(', ');

function bare(entry: string): string {
  const [, v6, v4] = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/.exec(entry) ?? [];
  const address = v6 ?? v4;
  return address !== undefined && ipaddr.isValid(address) ? address : entry;
}
