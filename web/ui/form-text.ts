import type { FormEvent } from 'react';

/** The text of a field, by its name; empty if the form has no such field. */
type TextOf = (name: string) => string;

/** For `onSubmit` of a form whose fields keep their own text: `submit` reads it from there. */
export const submitTexts =
  (submit: (textOf: TextOf, form: HTMLFormElement) => void) => (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const data = new FormData(form);
    submit((name) => {
      const value = data.get(name);
      return typeof value === 'string' ? value : '';
    }, form);
  };
