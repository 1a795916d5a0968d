import { existsSync } from 'node:fs';
import path from 'node:path';
import { readConfig } from '../server/config.ts';
import { createDb, createPool } from '../server/db/client.ts';
import { startEmbedded } from '../server/db/embedded.ts';
import { auditKeys, verifyChain } from '../server/features/audit/audit.ts';
import { loadRetiredSigners, loadSigner } from '../server/features/validation/signing.ts';

/**
 * `npm run audit:verify`: checks the sealed chain of the audit log, also beside a running server. Ends with 1 when it
 * is broken or cannot be checked.
 */
async function main(): Promise<void> {
  const config = readConfig(process.env);
  const keyFile = path.join(config.dataDir, 'signing-key.pem');
  // A new key would call every entry a forgery.
  if (!existsSync(keyFile))
    throw new Error(`There is no signing key at ${keyFile}. Set DATA_DIR as the server has it.`);
  const keys = auditKeys(await loadSigner(config.dataDir), await loadRetiredSigners(config.dataDir));
  const embedded = config.databaseUrl
    ? undefined
    : await startEmbedded(config.dataDir, { exclusive: false, log: () => undefined });
  const pool = createPool(config.databaseUrl ?? embedded!.url, 2);
  try {
    const { whole, broken, checkedEntries, unsealedEntries, anchors, durationMs } = await verifyChain(
      createDb(pool),
      keys,
    );
    const waiting = unsealedEntries > 0 ? `, ${unsealedEntries} not sealed yet` : '';
    const removed = anchors > 0 ? `, behind the anchor of the last of ${anchors} clean-ups` : '';
    if (whole) {
      say(
        `The audit log is whole: ${checkedEntries} entries checked in ${durationMs} ms${waiting}${removed}.`,
      );
      return;
    }
    const place = [
      broken!.sequence !== null && `place ${broken!.sequence} of the chain`,
      broken!.audit_id && `entry ${broken!.audit_id}`,
    ].filter(Boolean);
    say(`The audit log is broken (${place.join(', ') || 'no entry'}): ${broken!.problem}`);
    process.exitCode = 1;
  } finally {
    await pool.end();
    await embedded?.stop();
  }
}

const say = (line: string) => void process.stdout.write(`${line}\n`);

main().catch((error: unknown) => {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
});
