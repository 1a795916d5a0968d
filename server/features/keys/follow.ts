import type { Context } from '../../context.ts';
import { readOnly } from '../../db/read-only.ts';
import type { Signals } from '../../db/signals.ts';
import { exchangeKeys, type AuditKeys } from '../audit/index.ts';
import { readKeys, signingIn, type InstallationKeys, type RegisteredKey } from './claim.ts';
import { tidyFiles, type KeyConfig } from './local-keys.ts';
import { present } from '../../invariants.ts';

const againAfterMs = 5000;

type FollowParts = Pick<Context, 'db' | 'log'> & {
  signals: Pick<Signals, 'isUp' | 'on' | 'label'>;
  config: KeyConfig;
};

/**
 * Makes a running process follow `keys:rotate`: when keys change, it reads its files again, reports the key it holds,
 * and signs with the one that the database names. Earlier keys still verify. `keys` and `auditKeys` change in place.
 */
export function followRotation(
  { db, signals, config, log }: FollowParts,
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
  let again: NodeJS.Timeout | undefined;
  const run = () => {
    following = following.then(follow).catch((error: unknown) => {
      if (signals.isUp()) log.error({ err: error }, 'The signing keys could not be read again');
      // Also while it is not up: where a frozen process finds its connection whole, the topics do not run again.
      clearTimeout(again);
      again = setTimeout(run, againAfterMs).unref();
    });
  };
  signals.on('keys', run);
  run();
}

const currentOf = (rows: RegisteredKey[]) =>
  present(signingIn(rows, 'current'), 'the database names a current key once the service has started').key_id;
