import { sql } from 'kysely';
import type { Db } from '../../db/client.ts';
import { readOnly } from '../../db/read-only.ts';
import type { AuditVerification, ChainState } from '../../../contract/audit.ts';
import type { Context } from '../../context.ts';
import { locks } from '../../db/locks.ts';
import { beginChain, hasBegun } from './begin.ts';
import { isOurHead, type SignedHead } from './chain.ts';
import { checkEnd, readEnd } from './end.ts';
import { furthest, headPlaces, readKept, type HeadPlace, type KeptHead } from './kept-heads.ts';
import type { AuditKeys } from './keys.ts';
import { acceptedGaps, type Broken, type Place } from './links.ts';
import { sealPending } from './sealer.ts';
import { checkSome, verifyChain } from './verify.ts';

export type ChainWatch = ReturnType<typeof createChainWatch>;

type Kept = { sequence: number; at: Date | undefined; error: string | undefined };

/**
 * Monitors the chain for this process: seals, stores the head outside of the database, and continuously checks the
 * chain, one section per minute. A break is logged when it is found, and reported until a full check succeeds.
 */
export function createChainWatch(context: Context, keys: AuditKeys) {
  const { reports: db, log, clock, config, storage } = context;
  const parts = { ...context, db };
  const places = headPlaces(config, storage);
  const keptAt = new Map<string, Kept>();
  let knownUntil = 0;
  let sequence = 0;
  let endBroken: Broken | null = null;
  let chainBroken: Broken | null = null;
  let checkedAt: Date | undefined;
  let wholeAt: Date | undefined;
  let round: Place | undefined;
  let told: string | undefined;

  /** Reads the heads from all reachable places, and updates the highest number known to be sealed. */
  async function kept(where = places): Promise<KeptHead[]> {
    const read = (place: HeadPlace) =>
      readKept([place]).catch((error: unknown) => {
        failed(place, error);
        return [];
      });
    const heads = (await Promise.all(where.map(read))).flat();
    knownUntil = Math.max(knownUntil, furthest(heads));
    return heads;
  }

  /** Creates the first head of a new database, before any sealing. Throws if a stored head cannot be read. */
  async function begin(): Promise<void> {
    if (!(await hasBegun(db))) await beginChain(parts, keys, await readKept(places), clock());
    await kept();
  }

  /** Seals pending entries, and stores the new head in the data directory. Returns how many entries were sealed. */
  async function seal(): Promise<number> {
    const sealed = await sealPending(parts, keys, clock, () => knownUntil);
    if (sealed > 0) await keep(places.slice(0, 1));
    return sealed;
  }

  /** Checks the end of the chain and stores a head that is ours; locked, so that a stored head never goes back. */
  async function keep(where: HeadPlace[]): Promise<void> {
    const check = async (tx: Db) => {
      await sql`select pg_advisory_xact_lock(${locks.auditHead})`.execute(tx);
      const heads = await kept(where);
      const end = await readEnd(tx);
      const gaps = await acceptedGaps(tx, keys);
      const broken = await checkEnd(tx, keys, end, { kept: heads, gaps });
      // A single place can prove a break, but not the absence of one.
      if (broken || where === places) endBroken = broken;
      sequence = end.last.sequence;
      checkedAt = clock();
      if (endBroken || !end.head || !isOurHead(keys, end.head)) return undefined;
      for (const place of where) await write(place, end.head);
      return end.head;
    };
    // Sees what other processes committed while this one waited for the lock.
    const head = await readOnly(db, check, 'read committed');
    if (head) knownUntil = Math.max(knownUntil, head.sequence);
    tell();
  }

  async function write(place: HeadPlace, head: SignedHead): Promise<void> {
    try {
      await place.write(head, clock());
      keptAt.set(place.name, { sequence: head.sequence, at: clock(), error: undefined });
    } catch (error) {
      failed(place, error);
    }
  }

  function failed({ name }: HeadPlace, error: unknown): void {
    const before = keptAt.get(name);
    if (before?.error === undefined)
      log.error({ err: error }, `The head of the audit log could not be kept in ${name}`);
    keptAt.set(name, {
      sequence: before?.sequence ?? 0,
      at: before?.at,
      error: (error as Error).message,
    });
  }

  /** Checks the next section of the chain; returns whether the full check is complete. */
  async function goOn(): Promise<boolean> {
    const from = round;
    const { broken, next } = await checkSome(db, keys, from);
    if (broken) chainBroken = broken;
    round = broken ? undefined : next;
    if (!broken && !next) {
      chainBroken = null;
      wholeAt = clock();
    }
    tell();
    return round === undefined;
  }

  /** Runs every minute: stores the head in all places, and checks a section. Returns whether a full check ended. */
  async function tick(): Promise<boolean> {
    await keep(places);
    return goOn();
  }

  /** Checks everything immediately. */
  async function verify(): Promise<AuditVerification> {
    await seal();
    const result = await verifyChain(db, keys, await kept());
    chainBroken = result.broken;
    if (result.whole) {
      endBroken = null;
      wholeAt = clock();
    }
    checkedAt = clock();
    tell();
    return result;
  }

  function tell(): void {
    const problem = (endBroken ?? chainBroken)?.problem;
    if (problem === told) return;
    if (problem) log.error({ broken: endBroken ?? chainBroken }, `The audit log is broken: ${problem}`);
    else log.info('The audit log is whole again');
    told = problem;
  }

  function state(): ChainState {
    const broken = endBroken ?? chainBroken;
    return {
      state: broken ? 'broken' : wholeAt ? 'whole' : 'checking',
      broken,
      sequence,
      checkedAt: checkedAt?.toISOString() ?? null,
      wholeAt: wholeAt?.toISOString() ?? null,
      kept: [...keptAt].map(([place, one]) => ({
        place,
        sequence: one.sequence,
        at: one.at?.toISOString() ?? null,
        error: one.error ?? null,
      })),
    };
  }

  return { begin, seal, tick, verify, state, kept, keys };
}
