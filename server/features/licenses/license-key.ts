import { randomInt } from 'node:crypto';
import type { LicenseType } from '../../../contract/licenses.ts';

/** 32 signs without I, L, O and U: none is taken for another, and no word is spelled by chance. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const base = alphabet.length;
const prefixes: Record<LicenseType, string> = { trial: 'T', enterprise: 'E' };
const keyLength = 25;

/** A new key, such as `E7K2M-0QX4T-…`: type prefix, 23 random signs (115 bits), check sign; five groups of five. */
export function newLicenseKey(type: LicenseType): string {
  let body = prefixes[type];
  while (body.length < keyLength - 1) body += alphabet[randomInt(base)];
  return grouped(body + checkSign(body));
}

/**
 * A part of a key as a search compares it, lower case and without dashes, from however it was typed: `7k2m0 qx4` for
 * `7k2m-OQX4`. Undefined for a text that is no part of a key, or too short to tell one from a word.
 */
export function licenseKeyFragment(typed: string): string | undefined {
  const signs = signsOf(typed);
  const isPart =
    signs.length >= 4 &&
    signs.length <= keyLength &&
    /\d/.test(typed) &&
    Array.from(signs).every((sign) => alphabet.includes(sign));
  return isPart ? signs.toLowerCase() : undefined;
}

/** Without the case, the grouping and the letters that are taken for another. */
const signsOf = (typed: string) =>
  typed
    .toUpperCase()
    .replaceAll(/[\s\p{Pd}_]/gu, '')
    .replaceAll('O', '0')
    .replaceAll(/[IL]/g, '1');

/**
 * The key as it is stored, from however it was typed: case, spaces and dashes are forgiven, and so are O for 0
 * and I or L for 1. Undefined when it cannot be a key: a sign too many, an unknown one, or a wrong check sign.
 */
export function parseLicenseKey(typed: string): string | undefined {
  const signs = signsOf(typed);
  const isKey =
    signs.length === keyLength &&
    Array.from(signs).every((sign) => alphabet.includes(sign)) &&
    Object.values(prefixes).includes(signs.slice(0, 1)) &&
    checkSign(signs.slice(0, -1)) === signs.at(-1);
  return isKey ? grouped(signs) : undefined;
}

const grouped = (signs: string) => signs.replaceAll(/.{5}(?=.)/g, '$&-');

/** ISO 7064 hybrid system, MOD 33,32: finds every single wrong sign and nearly every swap of neighbors. */
function checkSign(body: string): string {
  let product = base;
  for (const sign of body) {
    const sum = (product + alphabet.indexOf(sign)) % base || base;
    product = (sum * 2) % (base + 1);
  }
  return alphabet.charAt((base + 1 - product) % base);
}
