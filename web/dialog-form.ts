import { useForm, type FormErrors, type UseFormInput } from '@mantine/form';
import { useState } from 'react';
import { keptValues, useKeepingValues } from './kept-work.ts';
import { useUnsaved } from './ui/Dialog.tsx';

type Input<Values> = UseFormInput<Values> & {
  initialValues: Values;
  validate: (values: Values) => FormErrors;
};

/** Fields that are never restored after the session ended. */
const secrets: ReadonlySet<string> = new Set(['password', 'secret', 'code']);

/**
 * Mantine's form, which also tells the surrounding dialog whether it was edited, and keeps its values when the session
 * ends. `key`: the id of the record, or what is created. A record that is edited comes from `useSeen` with the same
 * key.
 */
export function useDialogForm<Values extends Record<string, any>>(key: string, input: Input<Values>) {
  const [initial] = useState(input.initialValues);
  const [atFirst] = useState(() => keptValues(key, initial));
  const form = useForm<Values, Values>({ ...input, initialValues: atFirst });
  useUnsaved(() => !isSame(form.getValues(), initial));
  useKeepingValues(key, () => {
    const values = withoutSecrets(form.getValues(), initial);
    return isSame(values, initial) ? undefined : values;
  });
  return form;
}

/**
 * As `useState`, for input outside of such a form, kept in the same way. `initial`: the unedited value; `atFirst`: the
 * value that the dialog opens with, where that was entered before.
 */
export function useEntered<Value>(key: string, initial: Value, atFirst = initial) {
  const state = useState(() => keptValues(key, { entered: atFirst }).entered);
  const [entered] = state;
  useUnsaved(() => !isSame(entered, initial));
  useKeepingValues(key, () => (isSame(entered, initial) ? undefined : { entered }));
  return state;
}

const isSame = (one: unknown, other: unknown) => textOf(one) === textOf(other);

const textOf = (value: unknown) =>
  JSON.stringify(value, (_name, part: unknown) => (part instanceof Set ? [...part].toSorted() : part));

/** The values that may be kept: those that are never restored are reset to their initial values. */
export const withoutSecrets = <Values extends Record<string, unknown>>(
  values: Values,
  initial: Values,
): Values => ({
  ...values,
  ...Object.fromEntries(Object.entries(initial).filter(([name]) => secrets.has(name))),
});
