import { useMutation } from '@tanstack/react-query';
import type { Customer } from '../../../contract/customers.ts';
import { messageOf } from '../../api-error.ts';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { toast } from '../../ui/toast.tsx';
import { restoreCustomer, softDeleteCustomer } from './customers.ts';

/** Asks before customers go to the trash, and offers the way back afterwards. */
export default function DeleteCustomers(props: {
  customers: Customer[];
  onClose: () => void;
  onDeleted: () => void;
}) {
  const { customers, onClose, onDeleted } = props;
  const what = customers.length === 1 ? `customer "${customers[0]?.name}"` : `${customers.length} customers`;

  const restore = useMutation({
    mutationFn: () => oneByOne(customers, restoreCustomer),
    onSuccess: () => toast({ message: `${capital(what)} restored` }),
    onError: (error) => toast({ message: messageOf(error), tone: 'red' }),
  });
  const softDelete = useMutation({
    mutationFn: () => oneByOne(customers, softDeleteCustomer),
    onSuccess: () => {
      onClose();
      onDeleted();
      void toast({ message: `${capital(what)} deleted`, undo: () => restore.mutate() });
    },
  });

  return (
    <ConfirmDialog
      opened
      title={customers.length === 1 ? 'Delete Customer' : 'Delete Customers'}
      message={`Are you sure you want to delete ${what}?`}
      busy={softDelete.isPending}
      error={softDelete.error ? messageOf(softDelete.error) : undefined}
      onConfirm={() => softDelete.mutate()}
      onClose={onClose}
    />
  );
}

/** In order, so that a failure leaves a clear point up to which it was done. */
async function oneByOne(customers: Customer[], change: (id: string) => Promise<unknown>): Promise<void> {
  for (const { customerId } of customers) await change(customerId);
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
