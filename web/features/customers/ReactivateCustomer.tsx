import { useMutation } from '@tanstack/react-query';
import type { Customer } from '../../../contract/customers.ts';
import { messageOf } from '../../api-error.ts';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { toast } from '../../ui/toast.tsx';
import { restoreCustomer } from './customers.ts';

/** Asks before a customer comes back from the trash. */
export default function ReactivateCustomer({
  customer,
  onClose,
}: {
  customer: Customer;
  onClose: () => void;
}) {
  const restore = useMutation({
    mutationFn: restoreCustomer,
    onSuccess: ({ name }) => {
      onClose();
      void toast({ message: `Customer "${name}" reactivated` });
    },
  });
  return (
    <ConfirmDialog
      title="Reactivate Customer"
      message={`Reactivate "${customer.name}"? The customer will be visible in the customer list again.`}
      confirmLabel="Reactivate"
      busy={restore.isPending}
      error={restore.error ? messageOf(restore.error) : undefined}
      onConfirm={() => restore.mutate(customer.customerId)}
      onClose={onClose}
    />
  );
}
