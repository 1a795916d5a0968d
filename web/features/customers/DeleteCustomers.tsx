import { Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { capitalize } from '../../../contract/text.ts';
import type { Customer } from '../../../contract/customers.ts';
import { ApiError, isUnanswered, messageOf, signInAgain } from '../../api-error.ts';
import { itemProblem, runBulk, type BulkResult } from '../../bulk-run.ts';
import { licenseSentences, refusedSentences } from '../../impact-labels.ts';
import { keptValues, useKeepingValues } from '../../kept-work.ts';
import { useAuth } from '../../session.tsx';
import { BoxedList } from '../../ui/BoxedList.tsx';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { counted } from '../../ui/counted.ts';
import { Dialog } from '../../ui/Dialog.tsx';
import { toast } from '../../ui/toast.tsx';
import { useChange, useIsLeft } from '../../use-change.ts';
import { customerImpactQuery, restoreCustomer, softDeleteCustomer } from './queries.ts';
import { aboutCustomers, aboutDeletedCustomers } from '../../toast-subjects.ts';

/** Confirms a soft delete, offers Undo afterwards, and lists failures. */
export default function DeleteCustomers(props: {
  customers: Customer[];
  onClose: () => void;
  onDeleted: () => void;
}) {
  const { customers, onClose, onDeleted } = props;
  const { remove, result, notifyDeleted } = useDelete(customers, ({ done, failed }) => {
    if (done.length > 0) onDeleted();
    if (failed.length === 0) onClose();
  });
  const isOne = customers.length === 1;
  const consequences = useQuery({
    ...customerImpactQuery(customers.map(({ customerId }) => customerId)),
    select: (affected) => [
      ...licenseSentences(affected, isOne ? 'this customer' : 'these customers', refusedSentences),
      `${isOne ? 'The customer' : 'Each customer'} can be restored under Soft Deleted.`,
    ],
  });
  const title = isOne ? 'Delete Customer' : 'Delete Customers';

  if (result && !isOne) {
    const { done, failed } = result;
    // Only now: otherwise the Undo notification would time out while the user reads the failures.
    const close = () => {
      notifyDeleted(done);
      onClose();
    };
    return (
      <Dialog title={title} held="slips" onClose={close}>
        <Stack gap="md">
          <Text role="alert" tabIndex={-1} data-autofocus>
            {countOf(done.length)} deleted. {countOf(failed.length)} could not be deleted
            {failed.some(({ error }) => isUnanswered(error)) && ', or there was no response'}:
          </Text>
          <BoxedList label="Customers">
            {failed.map(({ item, error }) => (
              <li key={item.customerId}>
                {item.name}
                <Text c="var(--mantine-color-error)">{itemProblem(error)}</Text>
              </li>
            ))}
          </BoxedList>
          <Group justify="flex-end">
            <Button onClick={close}>Close</Button>
          </Group>
        </Stack>
      </Dialog>
    );
  }
  const [failure] = result?.failed ?? [];
  return (
    <ConfirmDialog
      title={title}
      message={`Are you sure you want to delete ${whatOf(customers)}?`}
      consequences={consequences}
      busy={remove.isPending}
      error={failure && messageOf(failure.error)}
      onConfirm={() => remove.mutate()}
      // Failures are shown in this dialog.
      onClose={remove.isPending ? () => {} : onClose}
    />
  );
}

type Result = BulkResult<Customer, Customer>;

/** What was deleted is kept when the session ends in between: else nobody is told, and nothing undoes it. */
function useDelete(customers: Customer[], onEnd: (result: Result) => void) {
  const { can } = useAuth();
  const restore = useChange({
    mutationFn: (deleted: Customer[]) => runBulk(deleted, restoreCustomer, {}),
    onSuccess: ({ done, failed }) => {
      const restored = `${capitalize(whatOf(done))} restored`;
      if (failed.length === 0) return void toast({ message: restored, subject: aboutCustomers(done) });
      const notRestored = notDone('restored', failed);
      void toast({
        message: done.length > 0 ? `${restored}. ${notRestored}` : notRestored,
        subject: aboutDeletedCustomers(failed.map(({ item }) => item)),
        tone: 'red',
      });
    },
  });
  const notifyDeleted = (done: Customer[], failed: Result['failed'] = []) => {
    const deleted = done.length > 0 && `${capitalize(whatOf(done))} deleted`;
    const parts = [deleted, failed.length > 0 && notDone('deleted', failed)].filter(Boolean);
    if (parts.length === 0) return;
    void toast({
      message: parts.join('. '),
      subject: deleted ? aboutDeletedCustomers(done) : aboutCustomers(failed.map(({ item }) => item)),
      ...(failed.length > 0 && { tone: 'red' }),
      ...(deleted && can.updateCustomers && { undo: () => restore.mutate(done) }),
    });
  };
  const isLeft = useIsLeft();
  const done = useRef<Customer[]>([]);
  const remove = useChange({
    mutationFn: () =>
      runBulk(customers, async (customer, form) => {
        const deleted = await softDeleteCustomer(customer, form);
        done.current.push(deleted);
        return deleted;
      }),
    onSuccess: (result) => {
      if (result.failed.length === 0 || isLeft()) notifyDeleted(result.done, result.failed);
      onEnd(result);
    },
  });
  const key = 'delete customers';
  const [before] = useState(() => keptValues<Result | undefined>(key, undefined));
  const result = remove.data ?? before;
  useKeepingValues(key, () => (result?.done.length ? result : interrupted(customers, done.current)));
  return { remove, result, notifyDeleted };
}

function interrupted(customers: Customer[], done: Customer[]): Result | undefined {
  if (done.length === 0) return undefined;
  const error = new ApiError(401, signInAgain);
  error.isUnanswered = true;
  const known = new Set(done.map(({ customerId }) => customerId));
  const failed = customers.filter(({ customerId }) => !known.has(customerId));
  return { done, failed: failed.map((item) => ({ item, error })) };
}

/** Of the customers that could not be deleted or restored. */
const mostNamed = 5;

function notDone(past: string, failed: Result['failed']): string {
  const names = failed.slice(0, mostNamed).map(({ item }) => item.name);
  const others = failed.length > mostNamed ? ` and ${failed.length - mostNamed} more` : '';
  const error = failed[0]?.error;
  const perhaps = isUnanswered(error) ? 'Perhaps not' : 'Not';
  return `${perhaps} ${past}: ${names.join(', ')}${others}. ${itemProblem(error)}`;
}

const countOf = (n: number) => counted(n, 'customer');
const whatOf = (customers: Customer[]) =>
  customers.length === 1 ? `customer "${customers[0]?.name}"` : countOf(customers.length);
