import { createHash } from 'node:crypto';
import { sql, type RawBuilder } from 'kysely';
import type { Change } from '../../change.ts';
import { makeRecords } from '../update-events/index.ts';
import { machineHashOf } from '../../machine-hash.ts';
import { idHash } from '../../db/sql.ts';

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
  const own = await ownRecordOf(change, customerId, machineId);
  await makeRecord(change, usual);
  // in the order in which the writer of events locks machines
  await sql`select from machines where machine_hash in (${usual}, ${own}) order by machine_hash for update`.execute(
    change.tx,
  );
  const isTaken = await isOfAnother(
    change,
    customerId,
    sql`${idHash('a')} = ${usual} and m.own_hash is null`,
  );
  if (isTaken) await makeRecord(change, own);
  await change.tx
    .updateTable('machines')
    .set({ proven_at: change.now })
    .where('machine_hash', '=', isTaken ? own : usual)
    .where('proven_at', 'is', null)
    .execute();
  return isTaken ? own : null;
}

/** The hash of a record of its own, which no machine holds that went to another customer with its license. */
async function ownRecordOf(change: Change, customerId: string, machineId: string): Promise<Buffer> {
  for (let attempt = 1; ; attempt++) {
    const hash = ownHashOf(customerId, machineId, attempt);
    if (!(await isOfAnother(change, customerId, sql`m.own_hash = ${hash}`))) return hash;
  }
}

/** Whether the record is that of an enrolled machine of another customer. */
async function isOfAnother(
  { tx }: Change,
  customerId: string,
  isRecord: RawBuilder<unknown>,
): Promise<boolean> {
  const { rows } = await sql`
    select from activations a join machine_credentials m using (activation_id) join licenses l using (license_id)
     where ${isRecord} and l.customer_id <> ${customerId}
     limit 1`.execute(tx);
  return rows.length > 0;
}

/** The first bytes occur in no text, so this is not the hash of another machine id. */
const ownHashOf = (customerId: string, machineId: string, attempt: number): Buffer =>
  createHash('sha256').update(Buffer.alloc(attempt, 0xff)).update(customerId).update(machineId).digest();

const makeRecord = ({ tx, now }: Change, hash: Buffer) =>
  makeRecords(tx, [{ machineHash: hash.toString('hex'), firstAt: now }]);
