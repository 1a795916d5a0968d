import type { ErrorDetail } from '../contract/errors.ts';
import { ApiError } from './api-error.ts';
import { isSame, mergeEdits } from './merge-edits.ts';
import type { ConflictRow } from './ui/ConflictDialog.tsx';
import { toast, type ToastSubject } from './ui/toast.tsx';
import { useChange } from './use-change.ts';

/** The refusal of an edit because the record was saved by another user after it was opened. */
export const conflictOf = (error: unknown): ApiError | undefined =>
  error instanceof ApiError && error.code === 'EDIT_CONFLICT' ? error : undefined;

/** The fields that two users changed to different values. */
export type Clash = { readonly details: readonly ErrorDetail[] };

/** The text of a value; `—` where there is none. */
export const orDash =
  <Value>(asText: (value: Value) => string) =>
  (value: Value | null | undefined): string =>
    value === null || value === undefined || value === '' ? '—' : asText(value);

const plainText = orDash((value) => (typeof value === 'boolean' ? (value ? 'Yes' : 'No') : String(value)));

/** The labels of the fields that two users changed, as shown in the form. `words`: of values that are not plain text. */
export const differingFields = <Field extends string>(
  clash: Clash,
  labels: Readonly<Record<Field, string>>,
  words: { readonly [F in Field]?: (value: never, whose: 'theirs' | 'yours') => string } = {},
): ConflictRow[] =>
  clash.details.flatMap(({ path, current, yours }) => {
    if (!(path in labels)) return [];
    const field = path as Field;
    const asText = (words[field] ?? plainText) as (value: unknown, whose: 'theirs' | 'yours') => string;
    return [{ field: labels[field], theirs: asText(current, 'theirs'), yours: asText(yours, 'yours') }];
  });

/** The record that an edit started from, with its version. */
type Seen = { readonly updatedAt: string };

/** The request body, and the record that it was made from. */
export type Attempt<Payload, Base extends Seen = Seen> = { payload: Payload; base: Base; round: number };

/** How often an edit is merged and sent again before the user is notified: each attempt met a newer change. */
const roundsAlone = 5;

/**
 * Merges an attempt that met a conflict: fields that only the other user changed are taken over. `clash`: the fields
 * that both changed; undefined when the merged attempt may be sent as it is. `isWhole`: the fields decide together what
 * becomes of machines, so each difference is a clash where both changed any.
 */
export function mergedAttempt<Payload extends object, Base extends Seen>(
  error: unknown,
  { payload, base, round }: Attempt<Payload, Base>,
  isWhole = false,
): { attempt: Attempt<Payload, Base>; clash: Clash | undefined } | undefined {
  const conflict = conflictOf(error);
  const version = conflict?.details.find(({ path }) => path === 'updatedAt')?.current;
  if (!conflict || typeof version !== 'string' || round >= roundsAlone) return undefined;
  const differences = conflict.details.filter(({ path }) => path !== 'updatedAt');
  const merged = mergeEdits({ ...base }, differences);
  const takenOver = Object.keys(merged.taken).length;
  const isMixed = takenOver > 0 && takenOver < differences.length;
  const isOneOfBoth = isWhole && (merged.clashes.length > 0 || isMixed);
  const { taken, clashes } = isOneOfBoth ? { taken: {}, clashes: differences } : merged;
  const stored = { ...base, ...payload, ...fieldsOf(differences), updatedAt: version };
  return {
    attempt: { payload: { ...payload, ...sendable(taken) }, base: stored, round: round + 1 },
    clash: clashes.length > 0 ? { details: clashes } : undefined,
  };
}

const fieldsOf = (details: readonly ErrorDetail[]): Record<string, unknown> =>
  Object.fromEntries(details.map(({ path, current }) => [path, current]));

/** Forms omit an empty optional text from the request. */
const sendable = (fields: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(fields).map(([path, value]) => [path, value ?? undefined]));

const changesNothing = (payload: object, stored: Seen): boolean =>
  Object.entries(payload).every(
    ([field, value]) => value === undefined || isSame(value, { ...stored }[field]),
  );

type Edit<Payload, Base extends Seen, Saved> = {
  /** The edited record. */
  subject: ToastSubject;
  /** `base`: the record with the version that the user saw, or the one that the edit was merged with. */
  save: (payload: Payload, base: Base) => Promise<Saved>;
  /** `attempt`: what was sent, and the record that it replaced. */
  onSaved: (saved: Saved, attempt: Attempt<Payload, Base>) => void;
  /** The user keeps the saved version, and has no changes of their own left to save. */
  onGivenUp: () => void;
  /** As of `mergedAttempt`: one of the two records is kept whole. */
  isWhole?: boolean;
};

/**
 * Saves an edit together with the record that it started from. When another user has saved the record in the meantime,
 * the two edits are merged; only fields that both changed wait for a decision.
 */
export function useEdit<Payload extends object, Saved, Base extends Seen = Seen>({
  subject,
  save,
  onSaved,
  onGivenUp,
  isWhole = false,
}: Edit<Payload, Base, Saved>) {
  const edit = useChange({
    mutationFn: ({ payload, base }: Attempt<Payload, Base>) => save(payload, base),
    onSuccess: onSaved,
    onError: (error, attempt) => {
      const merged = mergedAttempt(error, attempt, isWhole);
      if (merged && !merged.clash) edit.mutate(merged.attempt);
    },
  });
  const merged =
    edit.error && edit.variables ? mergedAttempt(edit.error, edit.variables, isWhole) : undefined;
  const clash = merged?.clash;
  return {
    /** `base`: the record as it was when the form was opened. */
    submit: (payload: Payload, base: Base) => edit.mutate({ payload, base, round: 0 }),
    busy: edit.isPending || (merged !== undefined && !clash),
    /** Errors other than conflicts. */
    error: merged ? null : edit.error,
    reset: edit.reset,
    conflict:
      merged && clash
        ? {
            clash,
            isWhole,
            saveMine: () => edit.mutate(merged.attempt),
            /** The remaining changes of this user are saved. */
            keepTheirs: () => {
              const payload = { ...merged.attempt.payload, ...sendable(fieldsOf(clash.details)) };
              if (!changesNothing(payload, merged.attempt.base))
                return edit.mutate({ ...merged.attempt, payload });
              edit.reset();
              void toast({ message: 'Kept what someone else saved', subject });
              onGivenUp();
            },
            dismiss: edit.reset,
          }
        : undefined,
  };
}
