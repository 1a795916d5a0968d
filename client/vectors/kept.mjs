// Decisions without the server.
import { at, day, iso, whole } from './fixed.mjs';
import { goodFile, licenseFile } from './offline.mjs';
import { answer, good, refusal } from './online.mjs';

const minute = 60_000;
const times = (changes = {}) => ({ signed: at, seen: 0, refused: 0, ...changes });
export const keptCases = [
  ['a kept answer within its grace', { decision: good, now: at + 13 * day }, [true, 'kept', 'VALID']],
  ['a kept answer at its last moment', { decision: good, now: at + 14 * day }, [true, 'kept', 'VALID']],
  [
    'a kept answer after its grace',
    { decision: good, now: at + 14 * day + 1 },
    [false, 'kept', 'OFFLINE_TOO_LONG'],
  ],
  [
    'a kept answer after the end of the license',
    { decision: good, now: at + 366 * day },
    [false, 'kept', 'EXPIRED'],
  ],
  [
    'a kept refusal',
    { decision: answer(refusal), now: at, times: times({ refused: at }) },
    [false, 'kept', 'REVOKED'],
  ],
  [
    'a valid answer that was put back after a refusal',
    { decision: good, now: at + day, times: times({ signed: at + day, refused: at + day }) },
    [false, 'none', 'NO_ANSWER'],
  ],
  [
    'a clock 5 minutes behind the last signed time',
    { decision: good, now: at - 5 * minute },
    [true, 'kept', 'VALID'],
  ],
  [
    'a clock more than 5 minutes behind the last signed time',
    { decision: good, now: at - 5 * minute - 1 },
    [false, 'none', 'CLOCK_SET_BACK'],
  ],
  [
    'a clock an hour behind its own newest time',
    { decision: good, now: at + day, times: times({ seen: at + day + 60 * minute }) },
    [true, 'kept', 'VALID'],
  ],
  [
    'a clock more than an hour behind its own newest time',
    { decision: good, now: at + day, times: times({ seen: at + day + 60 * minute + 1 }) },
    [false, 'none', 'CLOCK_SET_BACK'],
  ],
  ['a license file', { file: goodFile, now: at + 30 * day }, [true, 'file', 'VALID']],
  ['a license file at its end', { file: goodFile, now: at + 90 * day }, [true, 'file', 'VALID']],
  ['a license file in its grace', { file: goodFile, now: at + 97 * day }, [true, 'file', 'VALID']],
  [
    'a license file after its grace',
    { file: goodFile, now: at + 97 * day + 1 },
    [false, 'file', 'FILE_ENDED'],
  ],
  [
    'a license file that is not valid yet',
    { file: licenseFile({ nbf: whole(at + 2 * day) }), now: at + day },
    [false, 'file', 'NOT_YET_VALID'],
  ],
  [
    'a license file and a clock set back',
    { file: goodFile, now: at + 30 * day, times: times({ seen: at + 32 * day }) },
    [false, 'none', 'CLOCK_SET_BACK'],
  ],
  [
    'a license file after a kept answer ran out',
    { decision: good, file: goodFile, now: at + 30 * day },
    [true, 'file', 'VALID'],
  ],
  [
    'a license file that is newer than a valid answer',
    { decision: good, file: licenseFile({ iat: whole(at + day) }), now: at + 2 * day },
    [true, 'file', 'VALID'],
  ],
  [
    'a license file that is older than a valid answer',
    { decision: good, file: licenseFile({ iat: whole(at - day) }), now: at + 2 * day },
    [true, 'kept', 'VALID'],
  ],
  [
    'a license file before a refusal',
    {
      decision: answer({ ...refusal, issuedAt: iso(at + day) }),
      file: goodFile,
      now: at + 2 * day,
      times: times({ signed: at + day, refused: at + day }),
    },
    [false, 'kept', 'REVOKED'],
  ],
  [
    'a license file after a refusal',
    {
      decision: answer({ ...refusal, issuedAt: iso(at - day) }),
      file: goodFile,
      now: at + 2 * day,
      times: times({ refused: at - day }),
    },
    [true, 'file', 'VALID'],
  ],
  [
    'a kept answer without the times',
    { decision: good, now: at + day, times: null },
    [false, 'none', 'TIMES_MISSING'],
  ],
  [
    'a license file without the times',
    { file: goodFile, now: at + 30 * day, times: null },
    [false, 'none', 'TIMES_MISSING'],
  ],
  [
    'a kept refusal without the times',
    { decision: answer(refusal), now: at, times: null },
    [false, 'kept', 'REVOKED'],
  ],
  ['nothing, and no times', { now: at, times: null }, [false, 'none', 'NO_ANSWER']],
  ['nothing', { now: at }, [false, 'none', 'NO_ANSWER']],
].map(
  ([name, { decision: kept = null, file = null, now, times: seen = times() }, [valid, source, code]]) => ({
    name,
    answer: kept,
    file,
    now: iso(now),
    times:
      seen &&
      Object.fromEntries(Object.entries(seen).map(([what, time]) => [what, time === 0 ? null : iso(time)])),
    outcome: { valid, source, code },
  }),
);
