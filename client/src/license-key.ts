/** The canonical form of a typed key: upper case, groups of five, O read as 0, I and L as 1. */
export function canonicalKey(typed: string): string {
  return typed
    .toUpperCase()
    .replaceAll(/[\s\p{Pd}_]/gu, '')
    .replaceAll('O', '0')
    .replaceAll(/[IL]/g, '1')
    .replaceAll(/.{5}(?=.)/g, '$&-');
}
