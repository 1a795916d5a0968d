import { ApiError } from './api-error.ts';
import type { ConflictRow } from './ui/ConflictDialog.tsx';
import { useChange } from './use-change.ts';

/** The refusal of an edit because somebody else saved the record after it was opened. */
export const conflictOf = (error: unknown): ApiError | undefined =>
  error instanceof ApiError && error.code === 'EDIT_CONFLICT' ? error : undefined;

/** The version that the person has now seen; a third one in between is a conflict again. */
export function storedVersion(conflict: ApiError): string | undefined {
  const version = conflict.details.find((detail) => detail.path === 'updatedAt')?.current;
  return typeof version === 'string' ? version : undefined;
}

/** The fields in which two edits of one record differ, as a person reads them: by their names in the form. */
export const differingFields = <Field extends string>(
  conflict: ApiError,
  labels: Readonly<Record<Field, string>>,
  inWords: (field: Field, value: unknown, whose: 'theirs' | 'yours') => string,
): ConflictRow[] =>
  conflict.details.flatMap(({ path, current, yours }) => {
    if (!(path in labels)) return [];
    const field = path as Field;
    return [
      {
        field: labels[field],
        theirs: inWords(field, current, 'theirs'),
        yours: inWords(field, yours, 'yours'),
      },
    ];
  });

type Edit<Values, Saved> = {
  save: (values: Values, updatedAt: string | undefined) => Promise<Saved>;
  onSaved: (saved: Saved) => void;
};

/** Saves an edit together with the version that it began from, and holds on to it while a conflict is decided. */
export function useEdit<Values, Saved>({ save, onSaved }: Edit<Values, Saved>) {
  const edit = useChange({
    mutationFn: ({ values, updatedAt }: { values: Values; updatedAt: string | undefined }) =>
      save(values, updatedAt),
    onSuccess: onSaved,
  });
  const error = conflictOf(edit.error);
  const mine = edit.variables?.values;
  return {
    submit: (values: Values, updatedAt: string) => edit.mutate({ values, updatedAt }),
    busy: edit.isPending,
    /** What is not about a conflict. */
    error: error ? null : edit.error,
    conflict:
      error && mine !== undefined
        ? {
            error,
            mine,
            saveMine: () => edit.mutate({ values: mine, updatedAt: storedVersion(error) }),
            dismiss: edit.reset,
          }
        : undefined,
  };
}
