/**
 * The typed code of an authenticator app, or recovery code, as the calls take it: apps show theirs in groups, and a copied
 * one has spaces around it or another dash.
 */
export const readCode = (typed: string): string =>
  typed
    .normalize('NFKC')
    .replaceAll(/[\s\p{Pd}]/gu, '')
    .replace(/^(\w{5})(\w{5})$/, '$1-$2');
