import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { CannotStart } from '../server/cannot-start.ts';
import { readConfig } from '../server/config.ts';
import { createDb, type Db } from '../server/db/client.ts';
import { patient } from '../server/db/limits.ts';
import {
  acceptGaps,
  type AuditKeys,
  auditKeys,
  entryWriter,
  headPlaces,
  readHeadJson,
  readKept,
  verifyChain,
} from '../server/features/audit/index.ts';
import { isFailure } from '../server/failure.ts';
import { openKeys } from '../server/features/keys/index.ts';
import { openStorage } from '../server/storage/open-storage.ts';
import { runCommand, say, sayNotKept } from './command-line.ts';
import { onInstallation } from './database.ts';
import { fromCaller } from './from-caller.ts';

/**
 * `npm run audit:verify`: checks the sealed chain of the audit log against the heads stored outside the database, also
 * while the server runs. Exits with 1 if it is broken or cannot be checked. `--head FILE` also checks it against a head
 * from the receiver; `--accept REASON` accepts that entries are missing, and records that.
 */
async function main(): Promise<void> {
  const { values: options } = parseArgs({
    options: { accept: { type: 'string' }, head: { type: 'string' } },
  });
  const config = readConfig(process.env);
  await onInstallation(config, { exclusive: false, limits: patient }, async (pool) => {
    const { signer, retired } = await openKeys(createDb(pool), config, new Date());
    const storage = await openStorage(config.storage);
    await verify(createDb(pool), auditKeys(signer, retired), headPlaces(config, storage), options).finally(
      () => storage.close(),
    );
  });
}

async function verify(
  db: Db,
  keys: AuditKeys,
  places: ReturnType<typeof headPlaces>,
  options: { accept?: string | undefined; head?: string | undefined },
): Promise<void> {
  if (options.accept !== undefined) {
    const reason = options.accept.trim();
    if (!reason) throw new CannotStart('A reason is required: --accept "Restored the backup of 20 November"');
    const parts = { db, writeEntry: entryWriter(keys) };
    const accepted = await acceptGaps(parts, keys, places, { reason, now: new Date() });
    if (isFailure(accepted)) throw new CannotStart(accepted.message);
    say(accepted.summary);
    sayNotKept(accepted.notKept);
  }
  const kept = await readKept(places);
  if (options.head !== undefined) {
    const text = await readFile(fromCaller(options.head), 'utf8').catch((error: Error) => {
      throw new CannotStart(`The head cannot be read: ${error.message}`);
    });
    kept.push({ place: options.head, head: readHeadJson(text) });
  }
  const { broken, checkedEntries, unsealedEntries, anchors, acceptedGaps, durationMs } = await verifyChain(
    db,
    keys,
    kept,
  );
  const waiting = unsealedEntries > 0 ? `, ${unsealedEntries} not sealed yet` : '';
  const removed = anchors > 0 ? `, after the anchor of the last of ${anchors} cleanups` : '';
  const accepted = acceptedGaps > 0 ? `, ${acceptedGaps} accepted gaps` : '';
  const names = kept.map(({ place }) => place).join(', ');
  const against = names ? `, compared with the heads in ${names}` : '';
  if (!broken) {
    say(
      `The audit log is whole: ${checkedEntries} entries checked in ${durationMs} ms${waiting}${removed}${accepted}${against}.`,
    );
    return;
  }
  const place = [
    broken.sequence !== null && `place ${broken.sequence} of the chain`,
    broken.audit_id && `entry ${broken.audit_id}`,
  ].filter(Boolean);
  say(`The audit log is broken (${place.join(', ') || 'no entry'}): ${broken.problem}`);
  say('If a backup was restored, accept that entries are missing: npm run audit:verify -- --accept "…"');
  process.exitCode = 1;
}

runCommand(main);
