import { useForm, type FormErrors, type UseFormInput } from '@mantine/form';
import { useState } from 'react';
import { useUnsaved } from './ui/Dialog.tsx';

type Input<Values> = UseFormInput<Values> & {
  initialValues: Values;
  validate: (values: Values) => FormErrors;
};

/** The library's form, which tells the dialog around it whether something was typed. */
export function useDialogForm<Values extends Record<string, any>>(input: Input<Values>) {
  const form = useForm<Values, Values>(input);
  const [initial] = useState(input.initialValues);
  useUnsaved(() => JSON.stringify(form.getValues()) !== JSON.stringify(initial));
  return form;
}
