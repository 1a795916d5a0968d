import type { TimelineRun } from '../../../contract/machine-standing.ts';

/** One validation or update event. */
export type Entry = Omit<TimelineRun, 'count' | 'from' | 'to'> & { at: Date };

/**
 * Folds what a machine did, the latest first, into runs of the same. Validations and checks alternate all day, so a run
 * continues past other entries; it ends where the machine changed: another result of its validations on that license, or
 * another version.
 */
export function foldTimeline(entries: readonly Entry[]): TimelineRun[] {
  const runs: TimelineRun[] = [];
  const open = new Map<string, TimelineRun>();
  const codes = new Map<string | null, Entry['code']>();
  for (const entry of entries) {
    const key = keyOf(entry);
    if (versionChanges.includes(entry.kind) && !open.has(key)) open.clear();
    if (entry.kind === 'validation') {
      const { licenseKey, code } = entry;
      if (codes.has(licenseKey) && codes.get(licenseKey) !== code) open.clear();
      codes.set(licenseKey, code);
    }
    const run = open.get(key);
    if (run) {
      run.count += 1;
      run.from = entry.at.toISOString();
    } else {
      const { at, ...what } = entry;
      const started = { ...what, count: 1, from: at.toISOString(), to: at.toISOString() };
      open.set(key, started);
      runs.push(started);
    }
  }
  return runs;
}

const versionChanges: readonly Entry['kind'][] = ['install_complete', 'rollback'];

const keyOf = ({ kind, code, licenseKey, fromVersion, toVersion, releaseId, success, error }: Entry) =>
  JSON.stringify([kind, code, licenseKey, fromVersion, toVersion, releaseId, success, error]);
