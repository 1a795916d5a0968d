import { readAnswer, type Decision } from './answer.ts';
import { ask, type Decided, type Undecided } from './ask.ts';
import { evaluateKept, noTimes, type Times, type Verdict } from './evaluate-kept.ts';
import { finishGivingBack } from './give-back.ts';
import { messages } from './messages.ts';
import { readOwnFile } from './own-file.ts';
import { keepAnswer, readKeptAnswer, readTimes, writeTimes, type Parts } from './parts.ts';
import type { CheckResult } from './types.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Processes of the server may differ by this. */
export const aheadMs = 5 * minuteMs;

/**
 * Asks the server, and falls back to its kept answer or to a license file where there is no answer. Only what the
 * server signed counts: a status or text without a signature neither allows nor ends anything.
 */
export function check(parts: Parts): Promise<CheckResult> {
  return parts.store.lock(parts.timeoutMs, async (lock) => {
    const alone = lock === 'mine';
    if (alone) await finishGivingBack(parts);
    const before = await readTimes(parts);
    const asked = await ask(parts, alone);
    const times = await readTimes(parts);
    if (!asked.decision) return fallBack(parts, times, asked);
    const mayBeEnded = lock === 'taken' || (times?.refused ?? 0) > (before?.refused ?? 0);
    const problems = [
      asked.problem,
      ...(asked.decision.valid && mayBeEnded ? [endedMeanwhile] : await keep(parts, times, asked)),
    ];
    return resultOf(parts, online(asked.decision), { problems, at: asked.decision.issuedAt });
  });
}

const endedMeanwhile =
  'The answer is not kept: another window may have given the seat back while it was on its way.';

/** Keeps an answer and its time. Returns the problems. */
async function keep(parts: Parts, times: Times = noTimes, { decision, answer }: Decided) {
  const { valid, issuedAt } = decision;
  const refused = valid ? await refusedBefore(parts, times, issuedAt) : Math.max(times.refused, issuedAt);
  return [
    await keepAnswer(parts, answer),
    // it repeats our nonce, so it was made now: a clock that was ahead, here or of the server, is forgotten
    await writeTimes(parts, { signed: issuedAt, seen: issuedAt, refused }),
  ];
}

function online({ valid, code, message, modules, expiresAt }: Decision): Verdict {
  const allowed = valid ? { modules, expiresAt } : { modules: [], expiresAt: null };
  return { valid, source: 'online', code, message, ...allowed };
}

/**
 * What was refused still holds. A time of it that is after a valid answer is of a clock that was ahead: it is that of the
 * kept refusal, which this answer followed, or too far ahead to be that of a file that was given back.
 */
async function refusedBefore(parts: Parts, { refused }: Times, now: number): Promise<number> {
  if (refused <= now) return refused;
  const kept = await keptDecision(parts);
  const isAnswered = kept?.valid === false && kept.issuedAt === refused;
  return isAnswered || refused > now + aheadMs ? now : refused;
}

async function fallBack(parts: Parts, times: Times | undefined, asked: Undecided): Promise<CheckResult> {
  const { problem, code, message, retryAfter } = asked;
  const now = parts.now().getTime();
  const [decision, file] = await Promise.all([keptDecision(parts), readOwnFile(parts)]);
  const signed = Math.max(times?.signed ?? 0, decision?.issuedAt ?? 0, file?.issuedAt ?? 0);
  const known = times && { ...times, signed };
  const verdict = evaluateKept({ now, times: known, decision, file });
  const problems = [problem];
  if (verdict.valid && known)
    problems.push((await writeTimes(parts, { ...known, seen: Math.max(known.seen, now) })) ?? '');
  const nothingKept = verdict.code === 'NO_ANSWER';
  const said = nothingKept ? { ...verdict, code, message: message ?? messages[code] } : verdict;
  return resultOf(parts, said, { problems, at: now, retryAfter });
}

/** The last answer that was kept for this license and machine, verified; its times are not checked. */
export async function keptDecision(parts: Parts): Promise<Decision | undefined> {
  const answer = await readKeptAnswer(parts);
  if (!answer) return undefined;
  const { licenseKey } = parts;
  const expected = { licenseKey, machineId: await parts.machineId(), nonce: undefined };
  const decision = await readAnswer(answer, parts.keys, expected);
  return typeof decision === 'object' && 'valid' in decision ? decision : undefined;
}

function resultOf(
  parts: Parts,
  { expiresAt, ...verdict }: Verdict,
  {
    problems,
    at,
    retryAfter,
  }: { problems: (string | undefined)[]; at: number; retryAfter?: number | undefined },
): CheckResult {
  const problem = [...new Set(problems.filter(Boolean))].join(' ');
  return {
    ...verdict,
    expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString(),
    askAgainAt: askAgainAt(parts, { ...verdict, expiresAt, at }, retryAfter).toISOString(),
    ...(problem ? { problem } : {}),
  };
}

/**
 * When to ask again: every 3 to 5 hours after an answer, 15 to 25 minutes after a refusal or without an answer, in any
 * case before what is valid ends. `retryAfter` (seconds) is not signed, so it moves this by hours at most and never beyond
 * that end. Spread at random, so that a fleet that lost its server together does not come back together. `at`: when that
 * was said, by the clock that says when it ends: a machine whose clock is far ahead would ask each minute.
 */
export function askAgainAt(
  { now, random }: Pick<Parts, 'now' | 'random'>,
  { valid, source, expiresAt, at }: Pick<Verdict, 'valid' | 'source' | 'expiresAt'> & { at: number },
  retryAfter = 0,
): Date {
  const spread = 0.75 + random() / 2;
  const wanted = (valid && source === 'online' ? 4 * hourMs : 20 * minuteMs) * spread;
  const asked = Math.min(retryAfter * 1000, 4 * hourMs) * (0.25 + spread);
  const left = expiresAt === null ? Infinity : Math.max(minuteMs, (expiresAt - at) * (spread / 1.25));
  return new Date(now().getTime() + Math.min(Math.max(wanted, asked), left));
}
