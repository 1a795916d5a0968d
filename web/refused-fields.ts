import type { FormErrors } from '@mantine/form';
import { useEffect } from 'react';
import { fieldErrors, messageOf } from './api-error.ts';

/**
 * Shows the server's field errors under their fields, until the user edits them. The form keeps its errors itself, so
 * they are set once per response: `setErrors` and `atFields` must be stable. Returns the message for the form as a
 * whole, or undefined when its fields show all of it.
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
