import { rename } from 'node:fs/promises';
import path from 'node:path';
import { CannotStart } from '../../cannot-start.ts';
import { systemChange, type ChangeParts } from '../../change.ts';
import { readOrMake } from '../../key-file.ts';
import { newSecretsKey, readSecrets } from '../../secrets.ts';
import { sealAgain } from '../session/index.ts';
import { loseKey, registerKey, readKeys, withId } from './claim.ts';
import { keyFiles, type KeyConfig } from './local-keys.ts';
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
    const { local, rows } = await readKeys(tx, config);
    const current = rows.find(({ purpose, state }) => purpose === 'secrets' && state === 'current');
    const found = withId(local.secrets.all, current?.key_id);
    const before = present(found, 'without its current key the command does not start');
    // an earlier rotation stopped before it moved the file into place
    if (!config.secretsKey && local.secrets.key !== before) await rename(file, files.secrets);
    const next = readSecrets(await readOrMake(file, newSecretsKey), file);
    if (next.keyId === before.keyId) throw new CannotStart(`${file} holds the key that is in use already.`);
    // no data is encrypted with it any more
    await loseKey(tx, { purpose: 'secrets', key_id: before.keyId }, now);
    await registerKey(tx, { purpose: 'secrets', key: next, state: 'current', now });
    const factors = await sealAgain(tx, before, next);
    await audit('key.secrets_rotated', next, {
      what: `replaced the secrets key ${before.keyId}; second factors encrypted again: ${factors}`,
      before: { keyId: before.keyId },
      after: { keyId: next.keyId, factors },
    });
    return { keyId: next.keyId, before: before.keyId, factors };
  });
  if (!config.secretsKey) await rename(file, files.secrets);
  return rotated;
}
