import type { Db } from '../../db/client.ts';
import { readOnly } from '../../db/read-only.ts';
import type { AuditVerification, ChainState } from '../../../contract/audit.ts';
import type { Context } from '../../context.ts';
import { locks, waitForLock } from '../../db/locks.ts';
import { beginChain, hasBegun } from './begin.ts';
import { isOurHead, type SignedHead } from './chain.ts';
import { checkEnd, readEnd } from './end.ts';
import { highestSequence, headPlaces, readKept, type HeadPlace, type KeptHead } from './kept-heads.ts';
import type { AuditKeys } from './keys.ts';
import { acceptedGaps, type Broken, type Place } from './links.ts';
import { sealPending } from './sealer.ts';
import { checkSection, verifyChain } from './verify.ts';

export type ChainWatch = ReturnType<typeof createChainWatch>;

/**
 * Monitors the chain for this process: seals, stores the head outside of the database, and continuously checks the
 * chain, one section of `sectionLinks` per minute. A break is logged when it is found, and reported until a full check succeeds.
 */
export function createChainWatch(context: Context, keys: AuditKeys, sectionLinks: number) {
  const { reports: db, log, clock, config, storage } = context;
  const parts = { ...context, db };
  const places = headPlaces(config, storage);
  const [inDataDir, ...elsewhere] = places;
  const stored = new Map<string, ChainState['kept'][number]>();
  const lastRead = new Map<HeadPlace, KeptHead[]>();
  let knownUntil = 0;
  let sequence = 0;
  let endBroken: Broken | null = null;
  let chainBroken: Broken | null = null;
  let checkedAt: Date | undefined;
  let wholeAt: Date | undefined;
  let nextSection: Place | undefined;
  let loggedProblem: string | undefined;

  /**
   * Reads the heads from all places, and updates the highest number known to be sealed. A place that cannot be read is
   * added to `unread`, and counts with the head that was last read there: it belongs to the chain for good, and a break that
   * it has proved is none the less there.
   */
  async function readHeads(where: HeadPlace[] = places, unread = new Set<HeadPlace>()): Promise<KeptHead[]> {
    const read = async (place: HeadPlace): Promise<KeptHead[]> => {
      try {
        const heads = await readKept([place]);
        lastRead.set(place, heads);
        return heads;
      } catch (error) {
        failed(place, error);
        unread.add(place);
        return lastRead.get(place) ?? [];
      }
    };
    const heads = (await Promise.all(where.map(read))).flat();
    knownUntil = Math.max(knownUntil, highestSequence(heads));
    return heads;
  }

  /** Creates the first head of a new database, before any sealing. Throws if a stored head cannot be read. */
  async function begin(): Promise<void> {
    if (!(await hasBegun(db))) await beginChain(parts, keys, await readKept(places), clock());
    await readHeads();
  }

  /** Seals pending entries, and stores the new head in the data directory. Returns how many entries were sealed. */
  async function seal(): Promise<number> {
    const sealed = await sealPending(parts, keys, clock, () => knownUntil);
    if (sealed > 0) await storeHead([]);
    return sealed;
  }

  /**
   * Checks the end of the chain, and stores a head that is ours in the data directory and the `others`. Those may take
   * seconds to answer, so nothing is locked meanwhile: of two processes, the older head may come last, until the next
   * minute. In the data directory, a stored head never goes back.
   */
  async function storeHead(others: HeadPlace[]): Promise<void> {
    const unread = new Set<HeadPlace>();
    const heads = await readHeads(others, unread);
    const check = async (tx: Db) => {
      await waitForLock(tx, locks.auditHead);
      const kept = [...heads, ...(await readHeads([inDataDir], unread))];
      const end = await readEnd(tx);
      const gaps = await acceptedGaps(tx, keys);
      const broken = await checkEnd(tx, keys, end, { kept, gaps });
      // A single place can prove a break, but not the absence of one.
      if (broken || others === elsewhere) endBroken = broken;
      sequence = end.last.sequence;
      checkedAt = clock();
      if (endBroken || !end.head || !isOurHead(keys, end.head)) return undefined;
      // An unread place may hold the only head that proves a break.
      if (!unread.has(inDataDir)) await write(inDataDir, end.head);
      return end.head;
    };
    // Sees what other processes committed while this one waited for the lock.
    const head = await readOnly(db, check, 'read committed');
    logProblem();
    if (!head) return;
    knownUntil = Math.max(knownUntil, head.sequence);
    for (const place of others) if (!unread.has(place)) await write(place, head);
  }

  async function write(place: HeadPlace, head: SignedHead): Promise<void> {
    try {
      await place.write(head, clock());
      const at = clock().toISOString();
      stored.set(place.name, { place: place.name, sequence: head.sequence, at, error: null });
    } catch (error) {
      failed(place, error);
    }
  }

  function failed({ name }: HeadPlace, error: unknown): void {
    const before = stored.get(name) ?? { place: name, sequence: 0, at: null, error: null };
    if (before.error === null)
      log.error({ err: error }, `The head of the audit log could not be kept in ${name}`);
    stored.set(name, { ...before, error: (error as Error).message });
  }

  /** Runs every minute: stores the head in all places, and checks a section. Returns whether a full check ended. */
  async function tick(): Promise<boolean> {
    await storeHead(elsewhere);
    const known = chainBroken;
    const { broken, next } = await checkSection(db, keys, nextSection, sectionLinks);
    // Verify, which reads everything, ended meanwhile.
    if (chainBroken !== known) return false;
    nextSection = next;
    if (broken) chainBroken = broken;
    else if (!next) {
      chainBroken = null;
      wholeAt = clock();
    }
    logProblem();
    return next === undefined;
  }

  /** Checks everything immediately. */
  async function verify(): Promise<AuditVerification> {
    await seal();
    const result = await verifyChain(db, keys, await readHeads());
    chainBroken = result.broken;
    // The sections left of this round may lie after the break.
    if (result.broken) nextSection = undefined;
    if (result.whole) {
      endBroken = null;
      wholeAt = clock();
    }
    checkedAt = clock();
    logProblem();
    return result;
  }

  function logProblem(): void {
    const problem = (endBroken ?? chainBroken)?.problem;
    if (problem === loggedProblem) return;
    if (problem) log.error({ broken: endBroken ?? chainBroken }, `The audit log is broken: ${problem}`);
    else log.info('The audit log is whole again');
    loggedProblem = problem;
  }

  function state(): ChainState {
    const broken = endBroken ?? chainBroken;
    return {
      state: broken ? 'broken' : wholeAt ? 'whole' : 'checking',
      broken,
      sequence,
      checkedAt: checkedAt?.toISOString() ?? null,
      wholeAt: wholeAt?.toISOString() ?? null,
      kept: [...stored.values()],
    };
  }

  return { begin, seal, tick, verify, state, readHeads, keys };
}
