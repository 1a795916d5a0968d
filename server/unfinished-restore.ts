import { existsSync } from 'node:fs';
import path from 'node:path';
import { CannotStart } from './cannot-start.ts';

/** The file of the data directory that is there from the beginning of a restore to its end. */
export const unfinishedRestore = (dataDir: string): string => path.join(dataDir, 'restore-unfinished.txt');

/** Throws CannotStart on a data directory whose restore did not end: it would look like one that has lost something. */
export function refuseHalfRestored(dataDir: string): void {
  if (existsSync(unfinishedRestore(dataDir)))
    throw new CannotStart(
      `The restore into ${path.resolve(dataDir)} did not end, so a part is missing. ` +
        'Empty that folder, and run npm run restore again.',
    );
}
