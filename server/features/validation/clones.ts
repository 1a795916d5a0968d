import { sql } from 'kysely';
import { addToList } from '../../add-to-list.ts';
import { systemChange, type ChangeParts } from '../../change.ts';
import type { Tx } from '../../db/client.ts';
import type { Answered } from './day-counts.ts';
import { noticeClone, type Signs } from './notice-clone.ts';

/**
 * Updates the signs of clones from validations with machine tokens; the activations must be locked. Returns the
 * activations that look like clones, each with the time of the call that showed it.
 */
export async function noteSigns(tx: Tx, rows: readonly Answered[]): Promise<Map<string, Date>> {
  const calls = new Map<string, Answered[]>();
  for (const row of rows) if (row.activationId && saysSomething(row)) addToList(calls, row.activationId, row);
  const clones = new Map<string, Date>();
  const single = [...calls].flatMap(([id, [row, ...more]]) => (row && more.length === 0 ? { id, row } : []));
  for (const id of await noteUnsuspicious(tx, single)) calls.delete(id);
  if (calls.size === 0) return clones;
  const known = await lockSigns(tx, [...calls.keys()].toSorted());
  for (const [id, signs] of known) {
    const inOrder = (calls.get(id) ?? []).toSorted(
      (a, b) => a.at.getTime() - b.at.getTime() || (a.token?.sequence ?? 0) - (b.token?.sequence ?? 0),
    );
    for (const { at, token, request } of inOrder) {
      const seen = { at, sequence: token?.sequence ?? null, facts: factsOf(request) };
      const noticed = noticeClone(known.get(id) ?? signs, seen);
      known.set(id, noticed.signs);
      if (noticed.isClone) clones.set(id, at);
    }
  }
  await writeSigns(tx, known);
  return clones;
}

/**
 * Writes the calls in which `noticeClone` would see no sign, in one statement without reading them first, and returns
 * their activations: nearly every call is one of them.
 */
async function noteUnsuspicious(
  tx: Tx,
  calls: readonly { id: string; row: Answered }[],
): Promise<readonly string[]> {
  if (calls.length === 0) return [];
  const { rows } = await sql<{ id: string }>`
    update machine_credentials m
       set sequence = coalesce(s.sequence, m.sequence), facts = coalesce(s.facts, m.facts), seen_at = s.at
      from unnest(${calls.map(({ id }) => id)}::uuid[], ${calls.map(({ row }) => row.at)}::timestamptz[],
                  ${calls.map(({ row }) => row.token?.sequence ?? null)}::bigint[],
                  ${calls.map(({ row }) => factsOf(row.request))}::text[]) as s (id, at, sequence, facts)
     where m.activation_id = s.id and (m.seen_at is null or m.seen_at <= s.at)
       and (s.sequence is null or m.sequence is null or m.sequence < s.sequence)
       and (s.facts is null or m.facts is null or m.facts = s.facts)
    returning m.activation_id as id`.execute(tx);
  return rows.map(({ id }) => id);
}

/** A call without a sequence number and a description is no sign of anything. */
const saysSomething = ({ token, request }: Answered): boolean =>
  token !== undefined && (token.sequence !== null || factsOf(request) !== null);

/** What describes a machine and does not change by itself; null if the call says nothing of it. */
function factsOf({ hostname, platform, architecture }: Answered['request']): string | null {
  const facts = [hostname, platform, architecture];
  return facts.some((fact) => fact) ? facts.map((fact) => fact ?? '').join(' · ') : null;
}

async function lockSigns(tx: Tx, ids: readonly string[]): Promise<Map<string, Signs>> {
  const { rows } = await sql<Signs & { id: string }>`
    select activation_id as id, sequence, moved_back_at as "movedBackAt", facts,
           previous_facts as "previousFacts", facts_changed_at as "factsChangedAt", seen_at as "seenAt"
      from machine_credentials where activation_id = any(${ids}::uuid[])
     order by activation_id for update`.execute(tx);
  return new Map(rows.map(({ id, ...signs }) => [id, signs]));
}

async function writeSigns(tx: Tx, known: ReadonlyMap<string, Signs>): Promise<void> {
  const column = <K extends keyof Signs>(name: K) => [...known.values()].map((signs) => signs[name]);
  await sql`
    update machine_credentials m
       set sequence = s.sequence, moved_back_at = s.moved_back_at, facts = s.facts,
           previous_facts = s.previous_facts, facts_changed_at = s.facts_changed_at, seen_at = s.seen_at
      from unnest(${[...known.keys()]}::uuid[], ${column('sequence')}::bigint[],
                  ${column('movedBackAt')}::timestamptz[], ${column('facts')}::text[],
                  ${column('previousFacts')}::text[], ${column('factsChangedAt')}::timestamptz[],
                  ${column('seenAt')}::timestamptz[])
        as s (id, sequence, moved_back_at, facts, previous_facts, facts_changed_at, seen_at)
     where m.activation_id = s.id`.execute(tx);
}

/** Tells staff of clones: once for each enrollment, in the lists and in the audit log. Nothing is locked. */
export async function tellClones(parts: ChangeParts, clones: ReadonlyMap<string, Date>): Promise<void> {
  for (const [activationId, at] of clones)
    await systemChange(parts, at, async ({ tx, audit }) => {
      const { rows } = await sql<{ machineId: string; licenseKey: string; licenseId: string }>`
        update machine_credentials m set cloned_at = ${at}
          from activations a join licenses l using (license_id)
         where m.activation_id = ${activationId} and m.cloned_at is null and a.activation_id = m.activation_id
        returning a.machine_id as "machineId", l.license_key as "licenseKey", l.license_id as "licenseId"`.execute(
        tx,
      );
      for (const { licenseId, ...machine } of rows)
        await audit(
          'activation.clone_noticed',
          { activationId, ...machine },
          { after: { licenseId, clonedAt: at.toISOString() } },
        );
    });
}
