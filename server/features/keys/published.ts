import type { RouteAnswer } from '../../../contract/route.ts';
import type { keys as calls } from '../../../contract/keys.ts';
import type { Db } from '../../db/client.ts';
import type { Signer } from '../../signer.ts';
import { present } from '../../invariants.ts';
import { endorsementIn } from './endorsements.ts';

/**
 * The public keys of all signing keys of the installation, the current one first, as returned by `GET /api/v1/keys`. A
 * client that trusts one of them can verify those that it endorses, independently of the database.
 */
export async function publishedKeys(db: Db, signer: Signer): Promise<RouteAnswer<typeof calls.published>> {
  const rows = await db
    .selectFrom('installation_keys')
    .selectAll()
    .where('purpose', '=', 'signing')
    .orderBy('added_at', 'desc')
    .execute();
  const first = rows.filter((row) => row.key_id === signer.keyId);
  const others = rows.filter((row) => row.key_id !== signer.keyId);
  return [...first, ...others].map((row) => ({
    keyId: row.key_id,
    algorithm: 'Ed25519' as const,
    publicKeyPem: present(row.public_key, 'a signing key is stored with its public half'),
    state: row.state,
    endorsement: endorsementIn(row),
  }));
}
