import type { FastifyRequest } from 'fastify';
import type { Caller } from '../../caller.ts';
import { machineHashOf } from '../../machine-hash.ts';

export { machineHashOf };

const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** The display id of a machine: the first 60 bits of its hash in 12 characters without I, L, O and U. */
export function displayIdOf(machineHash: string): string {
  let bits = BigInt(`0x${machineHash.slice(0, 15)}`);
  let id = '';
  for (let n = 0; n < 12; n++) {
    id = crockford.charAt(Number(bits & 31n)) + id;
    bits >>= 5n;
  }
  return id;
}

/**
 * The machine of a request: by its token, else by the id that the app sets in a header or in the feed's URL, else by
 * the id that electron-updater generates for each installation.
 */
export function machineOf(
  { actor }: Caller,
  request: FastifyRequest,
  { machineId }: { machineId?: string | undefined },
): string | undefined {
  if (actor.kind === 'machine') return actor.machineHash;
  const id = [request.headers['x-machine-id'], machineId, request.headers['x-user-staging-id']]
    .flatMap((text) => (typeof text === 'string' ? [text.trim()] : []))
    .find((text) => text !== '' && text.length <= 256);
  return id === undefined ? undefined : machineHashOf(id);
}
