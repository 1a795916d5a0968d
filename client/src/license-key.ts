import { createHash } from 'node:crypto';

/**
 * The canonical form of a typed key, as the server reads it: upper case, groups of five, O read as 0, I and L as 1, without
 * what a mail, chat or terminal puts into or around it.
 */
export function canonicalKey(typed: string): string {
  return typed
    .toUpperCase()
    .replaceAll(/[\s\p{Pd}\p{Cf}\p{Cc}_]/gu, '')
    .replaceAll(/^[\p{P}\p{S}]+|[\p{P}\p{S}]+$/gu, '')
    .replaceAll('O', '0')
    .replaceAll(/[IL]/g, '1')
    .replaceAll(/.{5}(?=.)/g, '$&-');
}

/** A license key as it stands in the name of a file. */
export const keyHash = (licenseKey: string) =>
  createHash('sha256').update(licenseKey).digest('hex').slice(0, 16);
