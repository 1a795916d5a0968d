import type { RouteAnswer } from '../../../contract/route.ts';
import type { keys as calls } from '../../../contract/keys.ts';
import type { Db } from '../../db/client.ts';
import type { Signer } from '../../signer.ts';
import { present } from '../../invariants.ts';

/**
 * The public halves of all signing keys of the installation, the one that signs now first, as `GET /api/v1/keys`
 * answers them. Who trusts one of them can trust those that it endorses, whatever the database says.
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
    endorsement:
      row.endorsed_by === null
        ? null
        : {
            keyId: row.endorsed_by,
            signed: present(row.endorsement, 'stored with the key that endorses'),
            signature: present(row.signature, 'stored with the key that endorses'),
          },
  }));
}
