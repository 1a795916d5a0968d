import { createHash } from 'node:crypto';
import type { Updateable } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import type { Release } from '../contract/releases.ts';
import type { Tables } from '../server/db/tables.ts';
import type { TestServer } from './harness.ts';

type Fate = { proven?: true; installed_at?: Date; install_failed?: boolean; ever_failed?: boolean };

/** What machines do with a release, as the guard counts it. */
export function guardRoom(server: TestServer) {
  const hashOf = (name: string) => createHash('sha256').update(name).digest();

  /** Machines that were offered the release at this time, and fetched it then. */
  async function takes({ id, version }: Release, machines: Buffer[], at: Date, more: Fate = {}) {
    const rows = machines.map((machine_hash) => ({
      download_id: uuidv7(),
      machine_hash,
      release_id: id,
      version,
      started_at: at,
      offered_at: at,
      fetched_at: at,
      ...more,
    }));
    await server.db.insertInto('downloads').values(rows).execute();
  }

  const set = ({ id }: Release, columns: Updateable<Tables['releases']>) =>
    server.db.updateTable('releases').set(columns).where('release_id', '=', id).execute();

  return { hashOf, takes, set };
}
