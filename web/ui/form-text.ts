import type { FormEvent } from 'react';

/** The text of a field, by its name; empty if the form has no such field. */
type TextOf = (name: string) => string;

/** For `onSubmit` of a form whose fields keep their own text: `submit` reads it from there. */
export const submitTexts = (submit: (textOf: TextOf) => void) => (event: FormEvent<HTMLFormElement>) => {
  event.preventDefault();
  const form = new FormData(event.currentTarget);
  submit((name) => {
    const value = form.get(name);
    return typeof value === 'string' ? value : '';
  });
};
