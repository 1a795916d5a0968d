/** The keys of an installation: which belong to its database, and how they are replaced. */
export { acceptNewKeys } from './accept.ts';
export { openKeys } from './claim.ts';
export { publishedKeys } from './published.ts';
export { rotateKey } from './replace.ts';
export type { Signer } from './signer.ts';
