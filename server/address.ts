import ipaddr from 'ipaddr.js';

/**
 * The network that counts as one caller: an IPv4 address, or the /64 of an IPv6 address, of which one machine may
 * use as many as it likes. What is no address stays as it is.
 */
export function networkOf(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  if (address.kind() === 'ipv4') return address.toString();
  return `${new ipaddr.IPv6([...(address as ipaddr.IPv6).parts.slice(0, 4), 0, 0, 0, 0]).toString()}/64`;
}

/** Whether an address is of this machine alone, IPv4-mapped ones too. */
export const isLoopback = (ip: string): boolean =>
  ipaddr.isValid(ip) && ipaddr.process(ip).range() === 'loopback';

/** `X-Forwarded-For` with bare addresses: some proxies write `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
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
