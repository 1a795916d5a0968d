import { assemble } from './assemble.ts';
import type { Client, ClientOptions } from './types.ts';

/**
 * A client for one license on this machine. Throws TypeError for options that no call could work with: a server that is
 * no https address (http on this computer), no folder, no public key, one that is not an Ed25519 key, or a `timeoutMs`
 * that no timer can wait for.
 */
export function createClient(options: ClientOptions): Client {
  return assemble(options);
}
