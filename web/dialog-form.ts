import { useForm, type FormErrors, type UseFormInput } from '@mantine/form';
import { useState } from 'react';
import { keptValues, useKeepingValues } from './kept-work.ts';
import { useUnsaved } from './ui/Dialog.tsx';

type Input<Values> = UseFormInput<Values> & {
  initialValues: Values;
  validate: (values: Values) => FormErrors;
};

/** Fields that are typed anew, however the session ended. */
const secrets: ReadonlySet<string> = new Set(['password', 'secret', 'code']);

/**
 * The library's form, which tells the dialog around it whether something was typed, and keeps that when the session
 * ends. `key`: the id of the record, or what is made. A record that is edited comes from `useSeen` with the same key.
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
 * As `useState`, for what a person enters outside of such a form, with the same promises. `initial`: what holds without
 * them; `atFirst`: what the dialog opens with, where that was entered before.
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

/** The values that may be kept: those that are typed anew are as they were at first. */
export const withoutSecrets = <Values extends Record<string, unknown>>(
  values: Values,
  initial: Values,
): Values => ({
  ...values,
  ...Object.fromEntries(Object.entries(initial).filter(([name]) => secrets.has(name))),
});
