/** The keys of an installation: which belong to its database, and how they are replaced. */
export { acceptNewKeys } from './accept.ts';
export { openKeys, type InstallationKeys } from './claim.ts';
export { followRotation } from './follow.ts';
export { publishedKeys } from './published.ts';
export { rotateKey } from './replace.ts';
export { rotateSecrets } from './replace-secrets.ts';
