import { InputWrapperContext } from '@mantine/core';
import { use, type ReactNode } from 'react';

/**
 * For a field whose hint or error is shown beside it, with those of others: screen readers say the element with this id
 * with the field. Mantine drops its `aria-describedby`.
 */
export const describedBy = (id: string | undefined) => ({
  inputContainer: (input: ReactNode) => <Described by={id}>{input}</Described>,
});

function Described({ by, children }: { by: string | undefined; children: ReactNode }) {
  const around = use(InputWrapperContext);
  const ids = [around.describedBy, by].filter(Boolean).join(' ');
  return (
    <InputWrapperContext value={{ ...around, describedBy: ids || undefined }}>{children}</InputWrapperContext>
  );
}
