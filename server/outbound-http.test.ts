import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect, test } from 'vitest';
import { isPublicAddress } from './outbound-http.ts';

/** The special-purpose registries of IANA (2026), and multicast, which has a registry of its own. */
const special = `
  0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
  192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24
  198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 255.255.255.255/32 ::/128
  ::1/128 ::ffff:0:0/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/23 2001::/32
  2001:1::1/128 2001:1::2/128 2001:1::3/128 2001:2::/48 2001:3::/32 2001:4:112::/48 2001:10::/28
  2001:20::/28 2001:30::/28 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20 5f00::/16 fc00::/7
  fe80::/10 fec0::/10 ff00::/8
`
  .trim()
  .split(/\s+/);

const metadata = `
  169.254.169.254 169.254.170.2 169.254.0.23 168.63.129.16 100.100.100.200 192.0.0.192
  fd00:ec2::254 fd20:ce::254 fe80::a9fe:a9fe
`
  .trim()
  .split(/\s+/);

const open = [
  '1.1.1.1',
  '8.8.8.8',
  '93.184.215.14',
  '168.63.129.17',
  '172.32.0.1',
  '192.0.1.1',
  '223.255.255.254',
];
const openV6 = [
  '2606:4700::1111',
  '2a00:1450:4001::200e',
  '2001:4860:4860::8888',
  '2620:4f:7fff::1',
  '3ffe::1',
];

/** An address of the range, of which `bits` fills what the range leaves free. */
function within(range: string, bits: bigint): string {
  const [network, prefix] = ipaddr.parseCIDR(range);
  const bytes = network.toByteArray();
  const size = BigInt(bytes.length * 8);
  const base = bytes.reduce((all, byte) => (all << 8n) | BigInt(byte), 0n);
  const address = base | (bits & ((1n << (size - BigInt(prefix))) - 1n));
  const parts = bytes.map((_, i) => Number((address >> (size - 8n * BigInt(i + 1))) & 0xffn));
  return ipaddr.fromByteArray(parts).toString();
}

const anyBits = fc.bigInt({ min: 0n, max: (1n << 128n) - 1n });

describe('an address is not public', () => {
  test.each(special)('anywhere in %s', (range) => {
    const isRefused = (bits: bigint) => !isPublicAddress(within(range, bits));
    expect(isRefused(0n), 'its first').toBe(true);
    expect(isRefused((1n << 128n) - 1n), 'its last').toBe(true);
    fc.assert(fc.property(anyBits, isRefused));
  });

  test.each(metadata)('where a cloud tells its machines of themselves: %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test('when it carries an IPv4 address, in whichever form, even a public one', () => {
    fc.assert(
      fc.property(fc.ipV4(), (v4) => {
        const [a, b, c, d] = v4.split('.').map(Number) as [number, number, number, number];
        const [high, low] = [(a << 8) | b, (c << 8) | d].map((part) => part.toString(16)) as [string, string];
        const inverted = [(a << 8) | b, (c << 8) | d].map((part) => (part ^ 0xffff).toString(16)).join(':');
        const forms = [
          `::ffff:${v4}`,
          `::ffff:0:${v4}`,
          `::${v4}`,
          `64:ff9b::${v4}`,
          `64:ff9b:1::${high}:${low}`,
          `2002:${high}:${low}::1`,
          `2001:0:4136:e378:8000:63bf:${inverted}`,
          `2a00:1450:4001:1::5efe:${high}:${low}`,
          `2a00:1450:4001:1:200:5efe:${high}:${low}`,
        ];
        expect(forms.filter(isPublicAddress)).toEqual([]);
      }),
    );
  });

  test('outside of what IPv6 has given out at all', () => {
    fc.assert(
      fc.property(anyBits, (bits) => {
        const address = within('::/0', bits);
        return !isPublicAddress(address) || /^[23]/.test(ipaddr.parse(address).toString());
      }),
    );
  });

  test('when it is none', () => {
    for (const text of ['', 'localhost', '1.1.1.1.1', '1.1.1.1/32', '[2606:4700::1111]', '::g'])
      expect(isPublicAddress(text), text).toBe(false);
  });
});

test.each([...open, ...openV6])('%s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});
