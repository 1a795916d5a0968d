import { existsSync } from 'node:fs';
import path from 'node:path';
import { CannotStart } from './cannot-start.ts';

/** A file of the data directory that exists during a restore. */
export const unfinishedRestore = (dataDir: string): string => path.join(dataDir, 'restore-unfinished.txt');

/** Throws CannotStart if a restore did not complete: the data directory would look like one with missing data. */
export function refuseHalfRestored(dataDir: string): void {
  if (existsSync(unfinishedRestore(dataDir)))
    throw new CannotStart(
      `The restore into ${path.resolve(dataDir)} did not end, so a part is missing. ` +
        'Empty that folder, and what DATABASE_URL and STORAGE_URL name, where they are set. Then run npm run restore again.',
    );
}
