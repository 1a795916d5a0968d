import ipaddr from 'ipaddr.js';
import type { LookupAddress } from 'node:dns';
import dns from 'node:dns/promises';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import tls from 'node:tls';
import { callbackify } from 'node:util';

/** Connections to hosts beyond our network: all that a test has to fake. */
export type Outbound = {
  /** Every address of a host name. */
  resolve(host: string): Promise<LookupAddress[]>;
  /** Connects, by `lookup` where the host is a name, as net.connect does; with TLS where there is a server name. */
  connect(to: Destination): net.Socket;
};

export type Destination = {
  host: string;
  port: number;
  lookup: net.LookupFunction;
  /** Empty for TLS with a literal address. */
  servername?: string;
};

export const realOutbound: Outbound = {
  resolve: (host) => dns.lookup(host, { all: true }),
  connect: (to) => (to.servername === undefined ? net.connect(to) : tls.connect(to)),
};

/** Refuses a connection into a network that is not public. */
export class NotPublic extends Error {
  constructor() {
    super('Leads to an address that is not public');
  }
}

const globalUnicast = ipaddr.parseCIDR('2000::/3');
/** What Azure tells its own machines of themselves: by its number an ordinary address. The others' are link-local. */
const metadataAddresses = ['168.63.129.16'];

/**
 * True for an address on the public Internet. None of the special-purpose ranges of IANA are (private, loopback,
 * link-local, shared, multicast, documentation, reserved), no address at which a cloud tells its machines of themselves,
 * nor any IPv6 form that carries an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo, ISATAP): what that leads to is
 * decided by a gateway.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  if (address.kind() === 'ipv4') return !metadataAddresses.includes(address.toString());
  const [, , , , fifth = 0, sixth] = (address as ipaddr.IPv6).parts;
  const isIsatap = (fifth & ~0x0200) === 0 && sixth === 0x5efe;
  return address.match(globalUnicast) && !isIsatap;
}

type Ask = { method: 'HEAD' | 'GET'; headers: Record<string, string>; signal: AbortSignal };

/**
 * Sends one request to a public address and answers as soon as the headers are there; no redirect is followed. The
 * address is checked at the moment of connecting, so a name that resolves differently a moment later gains nothing.
 */
export function requestOutbound(outbound: Outbound, url: URL, ask: Ask): Promise<http.IncomingMessage> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // a literal address is never looked up
  if (net.isIP(host) && !isPublicAddress(host)) return Promise.reject(new NotPublic());
  const secure = url.protocol === 'https:';
  const defaultPort = secure ? 443 : 80;
  const to: Destination = { host, port: Number(url.port) || defaultPort, lookup: publicLookup(outbound) };
  if (secure) to.servername = net.isIP(host) ? '' : host;
  return new Promise((resolve, reject) => {
    const { request } = secure ? https : http;
    // whatever state a connection is in, the caller's time is up when it is up
    ask.signal.addEventListener('abort', () => reject(ask.signal.reason as Error), { once: true });
    request(url, { ...ask, defaultPort, createConnection: () => outbound.connect(to) }, resolve)
      .on('error', reject)
      .end();
  });
}

/** One address that is not public condemns the name: which of them would be taken is not ours to choose. */
function publicLookup(outbound: Outbound): net.LookupFunction {
  const find = async (host: string) => {
    const addresses = await outbound.resolve(host);
    if (addresses.length > 0 && addresses.every((a) => isPublicAddress(a.address))) return addresses;
    throw new NotPublic();
  };
  const lookup = callbackify(find);
  return (host, { all }, callback) =>
    lookup(host, (error, addresses) => {
      if (error) callback(error, []);
      else if (all) callback(null, addresses);
      else callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
    });
}
