import type { Context } from '../../context.ts';
import { readOnly } from '../../db/read-only.ts';
import { exchangeKeys, type AuditKeys } from '../audit/index.ts';
import { readKeys, signingIn, type InstallationKeys, type RegisteredKey } from './claim.ts';
import { tidyFiles } from './local-keys.ts';
import { present } from '../../invariants.ts';

const againAfterMs = 5000;

/**
 * Makes a running process follow `keys:rotate`: when keys change, it reads its files again, reports the key it holds,
 * and signs with the one that the database names. Earlier keys still verify. `keys` and `auditKeys` change in place.
 */
export function followRotation(
  { db, signals, config, log }: Pick<Context, 'db' | 'signals' | 'config' | 'log'>,
  keys: InstallationKeys,
  auditKeys: AuditKeys,
): void {
  async function follow(): Promise<void> {
    const { local, rows } = await readOnly(
      db,
      async (tx) => {
        const read = await readKeys(tx, config);
        await tidyFiles(config, currentOf(read.rows));
        return read;
      },
      'read committed',
    );
    const held = new Map(
      [...local.signing.all, ...keys.retired, keys.signer].map((signer) => [signer.keyId, signer]),
    );
    const current = currentOf(rows);
    const signer = held.get(current);
    if (!signer) throw new Error(`The signing key ${current} is in use, and this process does not have it`);
    const before = keys.signer.keyId;
    keys.signer = signer;
    keys.retired = [...held.values()].filter(({ keyId }) => keyId !== current);
    exchangeKeys(auditKeys, signer, keys.retired);
    if (before !== current) log.info({ before }, `The signing key ${current} signs from now on`);
    const newest = signingIn(rows, 'next')?.key_id ?? current;
    await signals.label(held.has(newest) ? newest : '');
  }

  let following = Promise.resolve();
  const run = () => {
    following = following.then(follow).catch((error: unknown) => {
      // all topics run again when the database is back
      if (!signals.isUp()) return;
      log.error({ err: error }, 'The signing keys could not be read again');
      setTimeout(run, againAfterMs).unref();
    });
  };
  signals.on('keys', run);
  run();
}

const currentOf = (rows: RegisteredKey[]) =>
  present(signingIn(rows, 'current'), 'the database names a current key once the service has started').key_id;
