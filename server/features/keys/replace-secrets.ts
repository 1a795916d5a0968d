import { rename } from 'node:fs/promises';
import path from 'node:path';
import { CannotStart } from '../../cannot-start.ts';
import { systemChange, type ChangeParts } from '../../change.ts';
import type { Tx } from '../../db/client.ts';
import { readOrMake } from '../../key-file.ts';
import { newSecretsKey, readSecrets } from '../../secrets.ts';
import { sealAgain } from '../session/index.ts';
import { nameKey, readKeys, type NamedKey } from './claim.ts';
import { keyFiles, type KeyConfig } from './given.ts';
import { present } from '../../invariants.ts';

/**
 * Replaces the secrets key: encrypts all second factors again under a new one, all or none, and returns their number.
 * Uses the key in `next-secrets-key` if there is one. `out` is the file for the new key when it comes from SECRETS_KEY.
 * No process may serve the database meanwhile. Throws CannotStart when the new key is the current one.
 */
export async function rotateSecrets(
  parts: ChangeParts,
  config: KeyConfig,
  { out, now }: { out: string | undefined; now: Date },
): Promise<{ keyId: string; before: string; factors: number }> {
  const files = keyFiles(config.dataDir);
  const file = config.secretsKey ? out && path.resolve(out) : files.nextSecrets;
  if (!file)
    throw new CannotStart('The key comes from SECRETS_KEY: say where the new one goes, with --out FILE.');
  const rotated = await systemChange(parts, now, async ({ tx, audit }) => {
    const { given, rows } = await readKeys(tx, config);
    const isCurrent = ({ purpose, state }: NamedKey) => purpose === 'secrets' && state === 'current';
    const reason = 'without its current key the command does not start';
    const { key_id: current } = present(rows.find(isCurrent), reason);
    const before = present(
      given.secrets.all.find(({ keyId }) => keyId === current),
      reason,
    );
    // an earlier rotation stopped before it moved the file into place
    if (!config.secretsKey && given.secrets.key !== before) await rename(file, files.secrets);
    const next = readSecrets(await readOrMake(file, newSecretsKey), file);
    if (next.keyId === current) throw new CannotStart(`${file} holds the key that is in use already.`);
    await endKey(tx, current, now);
    await nameKey(tx, { purpose: 'secrets', key: next, state: 'current', now });
    const factors = await sealAgain(tx, before, next);
    await audit('key.secrets_rotated', next, {
      what: `replaced the secrets key ${current}; second factors encrypted again: ${factors}`,
      before: { keyId: current },
      after: { keyId: next.keyId, factors },
    });
    return { keyId: next.keyId, before: current, factors };
  });
  if (!config.secretsKey) await rename(file, files.secrets);
  return rotated;
}

/** No data is encrypted with this key any more. */
const endKey = (tx: Tx, keyId: string, now: Date) =>
  tx
    .updateTable('installation_keys')
    .set({ state: 'lost', ended_at: now })
    .where('purpose', '=', 'secrets')
    .where('key_id', '=', keyId)
    .execute();
