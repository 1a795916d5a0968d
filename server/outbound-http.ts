import ipaddr from 'ipaddr.js';
import type { LookupAddress } from 'node:dns';
import dns from 'node:dns/promises';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import tls from 'node:tls';
import { callbackify } from 'node:util';

/** Connections to external hosts; replaced in tests. */
export type Outbound = {
  /** Every address of a host name. */
  resolve(host: string): Promise<LookupAddress[]>;
  /** Connects like net.connect, using `lookup` if the host is a name; uses TLS if there is a server name. */
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

/** A connection to a network that is not public was refused. */
export class NotPublic extends Error {
  constructor() {
    super('Leads to an address that is not public');
  }
}

const globalUnicast = ipaddr.parseCIDR('2000::/3');
/** Azure's metadata service uses a public address; those of other clouds are link-local. */
const metadataAddresses = ['168.63.129.16'];

/**
 * True for an address on the public Internet. Excludes the special-purpose ranges of IANA (private, loopback,
 * link-local, shared, multicast, documentation, reserved), cloud metadata addresses, and all IPv6 forms that embed an
 * IPv4 address (mapped, compatible, NAT64, 6to4, Teredo, ISATAP), since a gateway decides where these lead.
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
 * Sends one request to a public address and resolves when the headers arrive; redirects are not followed. The address
 * is checked when connecting, so DNS rebinding has no effect.
 */
export function requestOutbound(outbound: Outbound, url: URL, ask: Ask): Promise<http.IncomingMessage> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // Literal addresses skip the lookup.
  if (net.isIP(host) && !isPublicAddress(host)) return Promise.reject(new NotPublic());
  const secure = url.protocol === 'https:';
  const defaultPort = secure ? 443 : 80;
  const to: Destination = { host, port: Number(url.port) || defaultPort, lookup: publicLookup(outbound) };
  if (secure) to.servername = net.isIP(host) ? '' : host;
  return new Promise((resolve, reject) => {
    const { request } = secure ? https : http;
    // The deadline of the caller applies in any state of the connection.
    ask.signal.addEventListener('abort', () => reject(ask.signal.reason as Error), { once: true });
    request(url, { ...ask, defaultPort, createConnection: () => outbound.connect(to) }, resolve)
      .on('error', reject)
      .end();
  });
}

/** Rejects a name if any of its addresses is not public, since we do not choose which one is used. */
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
