import { useForm, type FormErrors, type UseFormInput } from '@mantine/form';
import { useCallback, useLayoutEffect, useRef, useState, type FormEvent } from 'react';
import { keptValues, useKeepingValues } from './kept-work.ts';
import { useUnsaved } from './ui/Dialog.tsx';
import { focusWrongField } from './ui/wrong-field.ts';

type Input<Values> = UseFormInput<Values> & {
  initialValues: Values;
  validate: (values: Values) => FormErrors;
};

/** Fields that are never restored after the session ended. */
const secrets: ReadonlySet<string> = new Set(['password', 'currentPassword', 'secret', 'code']);

/**
 * Mantine's form, which also tells the surrounding dialog whether it was edited, and keeps its values when the session
 * ends. `key`: the id of the record, or what is created. A record that is edited comes from `useSeen` with the same
 * key. A form that is refused, here or by the server, moves the focus to its first wrong field.
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
  const { submitted, refused } = useFocusOnRefusal();
  const { setErrors } = form;
  // Mantine forgets all errors then; those of fields that stay as they are, and stay wrong, are kept. Read by an updater:
  // a call just before this one may not be rendered yet.
  const setValues: typeof form.setValues = (changes) => {
    const before = form.getValues();
    let shown: FormErrors = {};
    setErrors((errors) => (shown = errors));
    form.setValues(changes);
    const after = form.getValues();
    setErrors(() => errorsAfter(shown, before, after, input.validate));
  };
  return {
    ...form,
    setValues,
    onSubmit: (submit: Parameters<typeof form.onSubmit>[0]) =>
      form.onSubmit(
        (sent, event) => {
          submitted(event);
          return submit(sent, event);
        },
        (_errors, _values, event) => {
          submitted(event);
          refused();
        },
      ),
    setErrors: useCallback<typeof setErrors>(
      (errors) => {
        setErrors(errors);
        refused();
      },
      [setErrors, refused],
    ),
  };
}

/** The errors that are still shown; one that the form itself does not know came from the server. */
function errorsAfter<Values extends Record<string, any>>(
  shown: FormErrors,
  before: Values,
  after: Values,
  validate: (values: Values) => FormErrors,
): FormErrors {
  const kept = Object.keys(shown).filter((path) => {
    const field = path.replace(/\..*/, '');
    return isSame(before[field], after[field]);
  });
  if (kept.length === 0) return {};
  const [was, is] = [validate(before), validate(after)];
  return Object.fromEntries(kept.map((path) => [path, shown[path] === was[path] ? is[path] : shown[path]]));
}

/** Focuses the first wrong field once the errors are rendered, unless the user has gone elsewhere since the submit. */
function useFocusOnRefusal() {
  const last = useRef<{ form: HTMLElement; from: Element | null }>(undefined);
  const isRefused = useRef(false);
  // not after the drawing before, whose other effects may still be waiting when the user submits
  useLayoutEffect(() => {
    if (!isRefused.current) return;
    isRefused.current = false;
    const { activeElement, body } = document;
    if (last.current && [last.current.from, body].includes(activeElement)) focusWrongField(last.current.form);
  });
  return {
    submitted: (event: FormEvent<HTMLFormElement> | undefined) => {
      if (event) last.current = { form: event.currentTarget, from: document.activeElement };
    },
    refused: useCallback(() => {
      isRefused.current = true;
    }, []),
  };
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
