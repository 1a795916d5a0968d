import { expect, test } from 'vitest';
import { foldTimeline, type Entry } from './fold-timeline.ts';

/** `V` valid, `R` revoked, `c` check of 1.0, `C` check of 2.0, `d` download, `D` another build of it, `i` install of 2.0, `b` rollback; one an hour. */
const kinds: Record<string, Partial<Entry>> = {
  V: { kind: 'validation', code: 'VALID', licenseKey: 'A' },
  W: { kind: 'validation', code: 'VALID', licenseKey: 'B' },
  R: { kind: 'validation', code: 'REVOKED', licenseKey: 'A' },
  c: { kind: 'check', fromVersion: '1.0' },
  C: { kind: 'check', fromVersion: '2.0' },
  d: { kind: 'download_start', toVersion: '2.0', releaseId: null },
  D: { kind: 'download_start', toVersion: '2.0', releaseId: 'other' },
  e: { kind: 'download_error', toVersion: '2.0', success: false, error: 'E_NET' },
  i: { kind: 'install_complete', toVersion: '2.0' },
  b: { kind: 'rollback', fromVersion: '2.0', toVersion: '1.0' },
};
const letterOf = (run: Partial<Entry>) =>
  Object.entries(kinds).find(([, of]) =>
    Object.entries(of).every(([name, value]) => run[name as keyof Entry] === value),
  )![0];

/** Entries written as time passes; runs read from the latest, as letter, count, and hours of first and last. */
function fold(written: string): string[] {
  const entries = Array.from(written, (letter, hour) => ({
    id: String(hour),
    at: new Date(Date.UTC(2026, 10, 20, hour)),
    code: null,
    licenseKey: null,
    fromVersion: null,
    toVersion: null,
    releaseId: null,
    success: true,
    error: null,
    ...kinds[letter],
  }));
  const hour = (at: string) => new Date(at).getUTCHours();
  return foldTimeline(entries.toReversed() as Entry[]).map(
    (run) => `${letterOf(run)}${run.count} ${hour(run.from)}-${hour(run.to)}`,
  );
}

test.each([
  ['nothing', '', []],
  ['one of each', 'V', ['V1 0-0']],
  ['a run', 'VVVV', ['V4 0-3']],
  ['validations and checks that alternate', 'VcVcVc', ['c3 1-5', 'V3 0-4']],
  ['a refusal between', 'VVRRV', ['V1 4-4', 'R2 2-3', 'V2 0-1']],
  [
    'a refusal ends the runs of checks before it',
    'VcRcVc',
    ['c2 3-5', 'V1 4-4', 'R1 2-2', 'c1 1-1', 'V1 0-0'],
  ],
  ['two licenses at once', 'VWVW', ['W2 1-3', 'V2 0-2']],
  ['a refusal on one of two licenses', 'VWRW', ['W2 1-3', 'R1 2-2', 'V1 0-0']],
  ['an update', 'VcVdiCVC', ['C2 5-7', 'V1 6-6', 'i1 4-4', 'd1 3-3', 'V2 0-2', 'c1 1-1']],
  ['downloads that fail again and again', 'dVedVede', ['e3 2-7', 'd3 0-6', 'V2 1-4']],
  ['downloads of two builds of a version', 'dDDd', ['d2 0-3', 'D2 1-2']],
  ['a rollback', 'iCbc', ['c1 3-3', 'b1 2-2', 'C1 1-1', 'i1 0-0']],
  ['an update again after a rollback', 'ibi', ['i1 2-2', 'b1 1-1', 'i1 0-0']],
])('%s', (_, written, runs) => expect(fold(written)).toEqual(runs));
