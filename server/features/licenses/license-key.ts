import { randomInt } from 'node:crypto';
import type { LicenseType } from '../../../contract/licenses.ts';

/** 32 characters without I, L, O and U, to avoid lookalikes and accidental words. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const base = alphabet.length;
const prefixes: Record<LicenseType, string> = { trial: 'T', enterprise: 'E' };
const keyLength = 25;
const isStoredForm = /^[TE][0-9A-HJKMNP-TV-Z]{4}(?:-[0-9A-HJKMNP-TV-Z]{5}){4}$/;

/** A new key such as `E7K2M-0QX4T-…`: type prefix, 23 random characters (115 bits), check character. */
export function newLicenseKey(type: LicenseType): string {
  let body = prefixes[type];
  while (body.length < keyLength - 1) body += alphabet[randomInt(base)];
  return grouped(body + checkCharacter(body));
}

/**
 * A fragment of a key normalized for search (lower case, no dashes): `7k2m0qx4` for `7k2m-OQX4`. Undefined for text
 * that cannot be part of a key, or is too short to distinguish from a word.
 */
export function licenseKeyFragment(typed: string): string | undefined {
  const characters = normalized(typed);
  // by chance, two of 100,000 keys contain a word of four letters, and hardly any one of five
  const shortest = /\d/.test(typed) ? 4 : 5;
  const isPart =
    characters.length >= shortest &&
    characters.length <= keyLength &&
    Array.from(characters).every((character) => alphabet.includes(character));
  return isPart ? characters.toLowerCase() : undefined;
}

/**
 * Normalizes case, grouping and lookalike letters, and what a mail or chat puts into or around a key: invisible characters,
 * quotes. The client does the same (`client/src/license-key.ts`).
 */
const normalized = (typed: string) =>
  typed
    .toUpperCase()
    .replaceAll(/[\s\p{Pd}\p{Cf}_]/gu, '')
    .replaceAll(/^[\p{P}\p{S}]+|[\p{P}\p{S}]+$/gu, '')
    .replaceAll('O', '0')
    .replaceAll(/[IL]/g, '1');

/**
 * The stored form of a typed key. Undefined for an invalid one: a wrong length, an unknown character, or a wrong check
 * character.
 */
export function parseLicenseKey(typed: string): string | undefined {
  // programs send the stored form
  const key = isStoredForm.test(typed) ? typed : grouped(normalized(typed));
  if (!isStoredForm.test(key)) return undefined;
  const characters = key.replaceAll('-', '');
  return checkCharacter(characters.slice(0, -1)) === characters.at(-1) ? key : undefined;
}

const grouped = (characters: string) => characters.replaceAll(/.{5}(?=.)/g, '$&-');

/** ISO 7064 hybrid system, MOD 33,32: detects every single wrong character and nearly every swap of neighbors. */
function checkCharacter(body: string): string {
  let product = base;
  for (const character of body) {
    const sum = (product + alphabet.indexOf(character)) % base || base;
    product = (sum * 2) % (base + 1);
  }
  return alphabet.charAt((base + 1 - product) % base);
}
