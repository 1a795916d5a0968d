import type { Decision } from './answer.ts';
import type { LicenseFile } from './license-file.ts';
import { byClock, messages } from './messages.ts';
import type { CheckResult } from './types.ts';

/** The newest times that this machine has seen, in milliseconds since 1970; 0 for none. */
export type Times = {
  /** In something that the server signed. */
  signed: number;
  /** On the machine's clock, when the program was allowed to run offline. */
  seen: number;
  /** When the server signed a refusal, or after what it signed last when the seat was given back: older no longer counts. */
  refused: number;
};

export const noTimes: Times = { signed: 0, seen: 0, refused: 0 };

/** A result without the parts that depend on the call. */
export type Verdict = Pick<CheckResult, 'valid' | 'source' | 'code' | 'message' | 'modules'> & {
  expiresAt: number | null;
};

type Kept = {
  now: number;
  /** Undefined if their record is gone: what was kept does not count, since the clock cannot be checked. */
  times: Times | undefined;
  decision: Decision | undefined;
  file: LicenseFile | undefined;
};

/** Clocks of server and machine may differ by this. */
const toleranceMs = 5 * 60_000;
/** A clock that was corrected, or set by hand to a wrong zone, is not one that was set back. */
const correctionMs = 3_600_000;

export const dateOf = (time: number) => new Date(time).toISOString().slice(0, 10);

/** A license ends at the first moment of a day in UTC, on which nothing runs anymore: the day alone would promise it. */
const momentOf = (time: number) => `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** Decides without the server: by its last answer, by a license file, whichever is newer and valid. */
export function evaluateKept({ now, times, decision, file }: Kept): Verdict {
  const statements = [
    ...(decision ? [{ issuedAt: decision.issuedAt, verdict: evaluateAnswer(decision, now) }] : []),
    // license files count whole seconds
    ...(file ? [{ issuedAt: file.issuedAt + 999, verdict: evaluateFile(file, now) }] : []),
  ];
  // a crash may have come after the refusal was kept and before its time was
  const refused = Math.max(times?.refused ?? 0, decision?.valid === false ? decision.issuedAt : 0);
  const verdicts = statements
    .filter(({ issuedAt, verdict }) => !verdict.valid || issuedAt >= refused)
    .toSorted((one, other) => other.issuedAt - one.issuedAt)
    .map(({ verdict }) => verdict);
  const [newest] = verdicts;
  if (!newest) return refusal('none', 'NO_ANSWER');
  if (verdicts.some(({ valid, code }) => valid || code === 'NOT_YET_VALID')) {
    if (!times) return refusal('none', 'TIMES_MISSING');
    if (now < times.signed - toleranceMs || now < times.seen - correctionMs)
      return refusal('none', 'CLOCK_SET_BACK');
  }
  return verdicts.find(({ valid }) => valid) ?? newest;
}

function evaluateAnswer(
  { valid, code, message, modules, expiresAt, validUntil }: Decision,
  now: number,
): Verdict {
  if (!valid) return { valid, source: 'kept', code, message, modules: [], expiresAt: null };
  if (now <= expiresAt) return { valid, source: 'kept', code, message, modules, expiresAt };
  const isExpired = validUntil !== undefined && now > validUntil;
  return refusal('kept', isExpired ? 'EXPIRED' : 'OFFLINE_TOO_LONG', now);
}

function evaluateFile({ modules, notBefore, endsAt, graceMs }: LicenseFile, now: number): Verdict {
  if (now < notBefore - toleranceMs) return refusal('file', 'NOT_YET_VALID', now);
  const lastMoment = endsAt + graceMs;
  if (now > lastMoment) return refusal('file', 'FILE_ENDED', now);
  const message =
    now <= endsAt
      ? `The license file is valid until ${momentOf(endsAt)}.`
      : `The license file has expired. The program runs until ${momentOf(lastMoment)}: ask the vendor for a new one.`;
  const expiresAt = now <= endsAt ? endsAt : lastMoment;
  return { valid: true, source: 'file', code: 'VALID', message, modules, expiresAt };
}

/** `now`: where nothing but the clock of the machine says so. */
function refusal(source: Verdict['source'], code: keyof typeof messages, now?: number): Verdict {
  const message = now === undefined ? messages[code] : byClock(messages[code], dateOf(now));
  return { valid: false, source, code, message, modules: [], expiresAt: null };
}
