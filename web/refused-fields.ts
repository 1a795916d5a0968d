import type { FormErrors } from '@mantine/form';
import { useEffect } from 'react';
import { fieldErrors } from './api-error.ts';

/**
 * Says under its field what the server refused of it, until the person changes that field. The form holds its errors
 * itself, so an answer is handed to it once, when it comes. `setErrors` and `atFields` must stay the same ones.
 */
export function useRefusedFields(
  error: Error | null,
  setErrors: (errors: FormErrors) => void,
  atFields: (errors: FormErrors) => FormErrors = asNamed,
): void {
  useEffect(() => {
    if (error) setErrors(atFields(fieldErrors(error)));
  }, [error, setErrors, atFields]);
}

const asNamed = (errors: FormErrors) => errors;
