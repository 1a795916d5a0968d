import type { Db } from '../../db/client.ts';
import { present } from '../../invariants.ts';

type Endorsement = { keyId: string; signed: string; signature: string };
type KeyRow = { endorsed_by: string | null; endorsement: string | null; signature: string | null };

/** How the key before endorses the one in this row; null for the first one. */
export const endorsementIn = ({ endorsed_by, endorsement, signature }: KeyRow): Endorsement | null =>
  endorsed_by === null
    ? null
    : {
        keyId: endorsed_by,
        signed: present(endorsement, 'stored with the key that endorses'),
        signature: present(signature, 'stored with the key that endorses'),
      };

/**
 * The endorsements that lead from the first signing key to this one, in order: a client that trusts one of the keys
 * can verify the rest without asking.
 */
export async function endorsementsOf(db: Db, keyId: string): Promise<Endorsement[]> {
  const rows = await db
    .selectFrom('installation_keys')
    .selectAll()
    .where('purpose', '=', 'signing')
    .where('endorsed_by', 'is not', null)
    .execute();
  const chain: Endorsement[] = [];
  for (let next = keyId; chain.length < rows.length;) {
    const row = rows.find(({ key_id }) => key_id === next);
    const endorsement = row && endorsementIn(row);
    if (!endorsement) break;
    chain.unshift(endorsement);
    next = endorsement.keyId;
  }
  return chain;
}
