import { useRef, useState } from 'react';
import { bulkLicenses, mostAtOnce, type PlannedChange } from '../../../contract/license-bulk.ts';
import { call } from '../../api.ts';
import { mayBeDone, sentenceOf } from '../../api-error.ts';
import { isRefusedBeforeKey, untilAnswered } from '../../bulk-run.ts';
import { keptValues, useKeepingValues } from '../../kept-work.ts';
import { paths } from '../../paths.ts';
import { hasSessionLapsed } from '../../session-store.ts';
import { useUnsaved } from '../../ui/Dialog.tsx';
import { topForm } from '../../ui/open-forms.ts';
import { toast } from '../../ui/toast.tsx';
import { useChange, useIsLeft } from '../../use-change.ts';
import { countOf } from './license-labels.ts';

type Outcome = {
  /** With the version since the change. */
  done: PlannedChange[];
  failed: { planned: PlannedChange; reason: string }[];
  /** Sent, but the answer was lost each time: they may have been changed. */
  unknown: PlannedChange[];
  /** Why nobody could be asked about them. */
  refusal?: string | undefined;
  /** Asked again, it only finds out about the unknown ones. */
  isStopped?: boolean;
};
/** All changes, and what happened to some of them before. */
type Run = { all: readonly PlannedChange[]; before?: Outcome };
/** `form`: the dialog that sends them, whose keys they have, also once it was left. */
type Progress = { signal: AbortSignal; form: object | undefined; onProgress: (outcome: Outcome) => void };

const settled = ({ done, failed }: Outcome) => done.length + failed.length;

/**
 * Sets what was planned, one call after the other. After an abort, the rest is in no list. A lost answer ends the run: what
 * was sent is unknown then, and a run with this outcome asks again.
 */
export async function setAll({ all, before }: Run, { signal, form, onProgress }: Progress): Promise<Outcome> {
  const outcome: Outcome = { done: [], failed: [], ...before, unknown: [], refusal: undefined };
  const lost = new Set(before?.unknown.map(idOf));
  const known = new Set([...outcome.done, ...outcome.failed.map(({ planned }) => planned)].map(idOf));
  const rest = before?.isStopped ? before.unknown : all.filter(({ licenseId }) => !known.has(licenseId));
  for (let start = 0; start < rest.length && !signal.aborted; start += mostAtOnce) {
    const some = rest.slice(start, start + mostAtOnce);
    onProgress({ ...outcome, unknown: some });
    const wasLost = some.some(({ licenseId }) => lost.has(licenseId));
    const { done, failed, unknown, refusal } = await setSome(some, { signal, form, wasLost });
    outcome.done = [...outcome.done, ...done];
    outcome.failed = [...outcome.failed, ...failed];
    outcome.unknown = unknown;
    outcome.refusal = refusal;
    if (unknown.length > 0) break;
  }
  if (signal.aborted) outcome.isStopped = true;
  onProgress(outcome);
  return outcome;
}

const idOf = ({ licenseId }: PlannedChange) => licenseId;

async function setSome(
  some: readonly PlannedChange[],
  { signal, form, wasLost }: Omit<Progress, 'onProgress'> & { wasLost: boolean },
): Promise<Outcome> {
  const licenses = some.map(({ licenseId, updatedAt, after }) => ({ licenseId, updatedAt, ...after }));
  try {
    const { changed, refused } = await untilAnswered(
      () => call(bulkLicenses.change, { body: { licenses } }, { form }),
      () => !signal.aborted,
    );
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
      unknown: [],
    };
  } catch (error) {
    const reason = sentenceOf(error, 'The change failed');
    if (mayBeDone(error) || (hasSessionLapsed() && isRefusedBeforeKey(error)))
      return { done: [], failed: [], unknown: [...some] };
    // it says nothing of the call before, whose answer was lost
    if (wasLost && isRefusedBeforeKey(error))
      return { done: [], failed: [], unknown: [...some], refusal: reason };
    return { done: [], failed: some.map((planned) => ({ planned, reason })), unknown: [] };
  }
}

/** The changes that put back what was done, on the versions that it made. */
const backOf = (done: readonly PlannedChange[]): PlannedChange[] =>
  done.map(({ before, after, ...license }) => ({ ...license, before: after, after: before }));

/** What became of the licenses; `past`, as in `extended`. The last sentence has no end if it is about those that failed. */
export function outcomeText({ all }: Run, outcome: Outcome, past: string): string {
  const { done, failed, unknown, refusal } = outcome;
  const left = all.length - settled(outcome) - unknown.length;
  const text = [
    `${countOf(done.length)} ${past}.`,
    unknown.length > 0 &&
      `No response for ${countOf(unknown.length)}: they may or may not have been ${past}.`,
    refusal && `Asked again: ${refusal}`,
    left > 0 && `Stopped: ${countOf(left)} not ${past}.`,
    failed.length > 0 && `${countOf(failed.length)} could not be ${past}`,
  ];
  return text.filter(Boolean).join(' ');
}

/** What was sent, and what became of it so far. `undoes`: it puts back. */
type Sent = { wanted: Run; outcome: Outcome; undoes: boolean };

/**
 * Changes many licenses as previewed, and back again. `past`, as in `extended`. What was sent is kept when the session ends
 * in between: nobody may send it again without knowing that a part of it is done.
 */
export function useBulkEdit(kind: string, past: string) {
  const key = `bulk ${kind}`;
  const [before] = useState(() => keptValues<Sent | undefined>(key, undefined));
  const latest = useRef(before);
  useKeepingValues(key, () => latest.current);
  const [finished, setFinished] = useState(0);
  const abort = useRef(new AbortController());
  const start = (undoes: boolean) => (wanted: Run) => {
    abort.current = new AbortController();
    const onProgress = (outcome: Outcome) => {
      latest.current = { wanted, outcome, undoes };
      setFinished(settled(outcome));
    };
    return setAll(wanted, { signal: abort.current.signal, form: topForm(), onProgress });
  };
  const isLeft = useIsLeft();
  const tell = (what: string) => (outcome: Outcome, wanted: Run) => {
    if (!isLeft()) return;
    const isBad = outcome.failed.length > 0 || outcome.unknown.length > 0;
    const message = `${outcomeText(wanted, outcome, what)}${outcome.failed.length > 0 ? '.' : ''}`;
    const subject = { name: countOf(outcome.done.length), to: paths.licenses };
    void toast({ message, subject, tone: isBad ? 'red' : 'teal' });
  };
  const run = useChange({ mutationFn: start(false), onSuccess: tell(past) });
  const undo = useChange({ mutationFn: start(true), onSuccess: tell('put back') });
  const last = undo.isIdle ? run : undo;
  useUnsaved(() => last.isPending);
  const sent =
    last.data && last.variables
      ? { wanted: last.variables, outcome: last.data, undoes: last === undo }
      : before;
  return {
    run,
    running: last.isPending ? last.variables : undefined,
    sent,
    askAgain: ({ wanted, outcome, undoes }: Sent) =>
      (undoes ? undo : run).mutate({ all: wanted.all, before: outcome }),
    putBack: (done: readonly PlannedChange[]) => undo.mutate({ all: backOf(done) }),
    finished,
    stop: () => {
      abort.current.abort();
      // it is kept as it is by now, if the session ends before the answer
      const { current } = latest;
      if (current) latest.current = { ...current, outcome: { ...current.outcome, isStopped: true } };
    },
  };
}
