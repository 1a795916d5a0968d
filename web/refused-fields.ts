import type { FormErrors } from '@mantine/form';
import { useEffect } from 'react';
import { fieldErrors, messageOf } from './api-error.ts';

/**
 * Says under its field what the server refused of it, until the person changes that field. The form holds its errors
 * itself, so an answer is handed to it once, when it comes. `setErrors` and `atFields` must stay the same ones.
 *
 * Gives back what the form has to say besides: the message, unless fields of the form say all of it.
 */
export function useRefusedFields(
  error: Error | null,
  { values, setErrors }: { values: object; setErrors: (errors: FormErrors) => void },
  atFields: (errors: FormErrors) => FormErrors = asNamed,
): string | undefined {
  useEffect(() => {
    if (error) setErrors(atFields(fieldErrors(error)));
  }, [error, setErrors, atFields]);

  if (!error) return undefined;
  const refused = Object.keys(atFields(fieldErrors(error)));
  const isSaid = refused.length > 0 && refused.every((field) => field in values);
  return isSaid ? undefined : messageOf(error);
}

const asNamed = (errors: FormErrors) => errors;
