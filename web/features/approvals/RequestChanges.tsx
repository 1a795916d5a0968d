import { Suspense } from 'react';
import type { ChangeRequest } from '../../../contract/approvals.ts';
import { FormSkeleton } from '../../ui/FormSkeleton.tsx';
import { FieldChanges } from '../audit/index.ts';

/** Every field that a request changes, before and after. */
export function RequestChanges({ changes }: Pick<ChangeRequest, 'changes'>) {
  const values = (side: 'from' | 'to') => Object.fromEntries(changes.map((one) => [one.field, one[side]]));
  return (
    <Suspense fallback={<FormSkeleton heights={[24, 30, ...changes.map(() => 30)]} />}>
      <FieldChanges resource="release" before={values('from')} after={values('to')} />
    </Suspense>
  );
}
