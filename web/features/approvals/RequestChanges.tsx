import type { ChangeRequest } from '../../../contract/approvals.ts';
import { FieldChanges } from '../audit/index.ts';
import { fieldLabel, shownValue } from './change-labels.ts';

/** Every field that a request changes, before and after. */
export function RequestChanges({ changes }: Pick<ChangeRequest, 'changes'>) {
  const values = (side: 'from' | 'to') =>
    Object.fromEntries(changes.map((one) => [fieldLabel(one.field), shownValue(one[side])]));
  return <FieldChanges before={values('from')} after={values('to')} />;
}
