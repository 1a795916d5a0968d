export { acceptNewKeys } from './accept.ts';
export { type InstallationKeys, openKeys, requireKeys } from './claim.ts';
export { endorsementsOf } from './endorsements.ts';
export { followRotation } from './follow.ts';
export { rotateSecrets } from './replace-secrets.ts';
export { rotateKey } from './replace.ts';
