/**
 * The typed code of an authenticator app, or recovery code, as the calls take it: apps show theirs in groups, and a copied
 * one has spaces or invisible characters around it, or another dash.
 */
export const readCode = (typed: string): string =>
  typed
    .normalize('NFKC')
    .replaceAll(/[\s\p{Pd}\p{Cf}]/gu, '')
    .replace(/^(\w{5})(\w{5})$/, '$1-$2');
