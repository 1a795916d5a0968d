import type { Db } from '../../db/client.ts';
import { present } from '../../invariants.ts';

type Endorsement = { keyId: string; signed: string; signature: string };

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
  for (let next: string | null | undefined = keyId; chain.length < rows.length;) {
    const row = rows.find(({ key_id }) => key_id === next);
    if (!row) break;
    chain.unshift({
      keyId: present(row.endorsed_by, 'selected by it'),
      signed: present(row.endorsement, 'stored with the key that endorses'),
      signature: present(row.signature, 'stored with the key that endorses'),
    });
    next = row.endorsed_by;
  }
  return chain;
}
