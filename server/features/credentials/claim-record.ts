import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Change } from '../../change.ts';
import { displayIdOf, machineHashOf } from '../update-events/index.ts';

/**
 * Marks the record of a machine that enrolls as proven, and returns the hash that names it if that is not the hash of its
 * machine id: while that id is enrolled for another customer, it says nothing of who is who, so this machine gets a
 * record of its own. Two customers that enroll one id at once take turns.
 */
export async function claimRecord(
  change: Change,
  { customerId }: { customerId: string },
  machineId: string,
): Promise<Buffer | null> {
  const usual = Buffer.from(machineHashOf(machineId), 'hex');
  const own = ownHashOf(customerId, machineId);
  await insertMachine(change, usual);
  // in the order in which the writer of events locks machines
  await sql`select from machines where machine_hash in (${usual}, ${own}) order by machine_hash for update`.execute(
    change.tx,
  );
  const { rows } = await sql`
    select from activations a join machine_credentials m using (activation_id) join licenses l using (license_id)
     where machine_hash(a.machine_id) = ${usual} and m.own_hash is null and l.customer_id <> ${customerId}
     limit 1`.execute(change.tx);
  const isTaken = rows.length > 0;
  if (isTaken) await insertMachine(change, own);
  await change.tx
    .updateTable('machines')
    .set({ proven_at: change.now })
    .where('machine_hash', '=', isTaken ? own : usual)
    .where('proven_at', 'is', null)
    .execute();
  return isTaken ? own : null;
}

/** The first byte occurs in no text, so this is not the hash of another machine id. */
const ownHashOf = (customerId: string, machineId: string): Buffer =>
  createHash('sha256').update(Buffer.of(0xff)).update(customerId).update(machineId).digest();

const insertMachine = ({ tx, now }: Change, hash: Buffer) =>
  tx
    .insertInto('machines')
    .values({
      machine_hash: hash,
      display_id: displayIdOf(hash.toString('hex')),
      first_seen: now,
      last_seen: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
