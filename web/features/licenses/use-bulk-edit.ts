import { useRef, useState } from 'react';
import { bulkLicenses, mostAtOnce, type PlannedChange } from '../../../contract/license-bulk.ts';
import { call } from '../../api.ts';
import { sentenceOf } from '../../api-error.ts';
import { useUnsaved } from '../../ui/Dialog.tsx';
import { useChange } from '../../use-change.ts';

type Outcome = {
  /** With the version since the change. */
  done: PlannedChange[];
  failed: { planned: PlannedChange; reason: string }[];
};
type Progress = { signal: AbortSignal; onProgress: (finished: number) => void };

/** Sets what was planned, one call after the other. After an abort, the rest is in neither list. */
async function setAll(all: readonly PlannedChange[], { signal, onProgress }: Progress): Promise<Outcome> {
  const outcome: Outcome = { done: [], failed: [] };
  for (let start = 0; start < all.length && !signal.aborted; start += mostAtOnce) {
    const some = all.slice(start, start + mostAtOnce);
    const { done, failed } = await setSome(some);
    outcome.done.push(...done);
    outcome.failed.push(...failed);
    onProgress(start + some.length);
  }
  return outcome;
}

async function setSome(some: readonly PlannedChange[]): Promise<Outcome> {
  try {
    const licenses = some.map(({ licenseId, updatedAt, after }) => ({ licenseId, updatedAt, ...after }));
    const { changed, refused } = await call(bulkLicenses.change, { body: { licenses } });
    const versions = new Map(changed.map((one) => [one.licenseId, one.updatedAt]));
    const reasons = new Map(refused.map((one) => [one.licenseId, one.reason]));
    return {
      done: some.flatMap((planned) => {
        const updatedAt = versions.get(planned.licenseId);
        return updatedAt ? [{ ...planned, updatedAt }] : [];
      }),
      failed: some.flatMap((planned) => {
        const reason = reasons.get(planned.licenseId);
        return reason ? [{ planned, reason }] : [];
      }),
    };
  } catch (error) {
    const reason = sentenceOf(error, 'The change failed');
    return { done: [], failed: some.map((planned) => ({ planned, reason })) };
  }
}

/** The changes that put back what was done, on the versions that it made. */
const backOf = (done: readonly PlannedChange[]): PlannedChange[] =>
  done.map(({ before, after, ...license }) => ({ ...license, before: after, after: before }));

/** Changes many licenses as previewed, and back again. */
export function useBulkEdit() {
  const [finished, setFinished] = useState(0);
  const abort = useRef(new AbortController());
  const start = (all: readonly PlannedChange[]) => {
    setFinished(0);
    abort.current = new AbortController();
    return setAll(all, { signal: abort.current.signal, onProgress: setFinished });
  };
  const run = useChange({ mutationFn: start });
  const undo = useChange({ mutationFn: (done: readonly PlannedChange[]) => start(backOf(done)) });
  const { isPending } = undo.isIdle ? run : undo;
  useUnsaved(() => isPending);
  return { run, undo, finished, stop: () => abort.current.abort() };
}
