import type { FastifyRequest } from 'fastify';
import { sql } from 'kysely';
import { isStorableText } from '../../../contract/text.ts';
import type { Caller } from '../../caller.ts';
import type { Db } from '../../db/client.ts';
import { machineHashOf, machineIdIn } from '../../machine-hash.ts';

const longestId = 256;
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
  const inHeader = (name: string) => machineIdIn(String(request.headers[name] ?? ''));
  const id = [inHeader('x-machine-id'), (machineId ?? '').trim(), inHeader('x-user-staging-id')].find(
    (text) => text !== '' && text.length <= longestId,
  );
  return id === undefined ? undefined : machineHashOf(id);
}

/**
 * The query of a request that Squirrel.Windows may have repeated in lower case, with the machine id as a seat has it: of
 * another id, the machine would have no policy, and another place in rollouts.
 */
export async function asWritten<
  Query extends { machineId?: string | undefined; machineid?: string | undefined },
>(db: Db, query: Query): Promise<Query> {
  const { machineId, machineid } = query;
  if (machineId !== undefined || machineid === undefined) return query;
  if (machineid.length > longestId || !isStorableText(machineid)) return { ...query, machineId: machineid };
  const seat = await db
    .selectFrom('activations')
    .select('machine_id')
    .where(sql`lower(machine_id)`, '=', sql`lower(${machineid})`)
    .orderBy(sql`machine_id = ${machineid} desc, status = 'active' desc, last_checked_at desc nulls last`)
    .executeTakeFirst();
  return { ...query, machineId: seat?.machine_id ?? machineid };
}
