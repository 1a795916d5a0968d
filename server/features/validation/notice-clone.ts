import { dayMs } from '../../../contract/durations.ts';

/** The signs that a token is used by two machines, as stored with it. */
export type Signs = {
  /** Of the latest call; the client counts its calls. */
  sequence: number | null;
  movedBackAt: Date | null;
  /** The latest description of the machine, and the different one before it. */
  facts: string | null;
  previousFacts: string | null;
  factsChangedAt: Date | null;
  seenAt: Date | null;
};

/** One call with the token; null for what it did not say. */
export type Seen = { at: Date; sequence: number | null; facts: string | null };

/**
 * The signs after one more call, and whether they show a clone. One sign alone does not: a restored backup moves the
 * sequence back once, and a renamed computer changes its description once. A clone gives two within a day: the sequence
 * moves back twice, or once with another description; where it does not count its calls, the description changes and
 * returns. That of a computer which goes on counting may do so by itself, such as a host name of each network. A call that
 * is older than the latest one is ignored: after an outage, the records of several processes arrive in any order.
 */
export function noticeClone(before: Signs, seen: Seen): { signs: Signs; isClone: boolean } {
  const { at } = seen;
  if (before.seenAt && at < before.seenAt) return { signs: before, isClone: false };
  const isRecent = (time: Date | null) => time !== null && at.getTime() - time.getTime() <= dayMs;
  const movedBack = seen.sequence !== null && before.sequence !== null && seen.sequence <= before.sequence;
  const differs = seen.facts !== null && before.facts !== null && seen.facts !== before.facts;
  const hasReturned = differs && seen.facts === before.previousFacts && isRecent(before.factsChangedAt);
  return {
    signs: {
      sequence: seen.sequence ?? before.sequence,
      movedBackAt: movedBack ? at : before.movedBackAt,
      facts: seen.facts ?? before.facts,
      previousFacts: differs ? before.facts : before.previousFacts,
      factsChangedAt: differs ? at : before.factsChangedAt,
      seenAt: at,
    },
    isClone:
      (movedBack && (differs || isRecent(before.movedBackAt))) || (hasReturned && seen.sequence === null),
  };
}
