import { useQuery } from '@tanstack/react-query';
import type { Customer } from '../../../contract/customers.ts';
import { useConfirmedChange } from '../../confirmed-change.ts';
import { acceptedSentences, licenseSentences } from '../../impact-labels.ts';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { customerImpactQuery, restoreCustomer } from './queries.ts';
import { aboutCustomer } from '../../toast-subjects.ts';

/** Confirms that a customer is restored from the recycle bin. */
export default function ReactivateCustomer({
  customer,
  onClose,
}: {
  customer: Pick<Customer, 'customerId' | 'name' | 'updatedAt'>;
  onClose: () => void;
}) {
  const confirmed = useConfirmedChange({
    change: () => restoreCustomer(customer),
    done: (restored) => ({
      message: `Customer "${restored.name}" reactivated`,
      subject: aboutCustomer(restored),
    }),
    onClose,
  });
  const consequences = useQuery({
    ...customerImpactQuery([customer.customerId]),
    select: (affected) => licenseSentences(affected, 'this customer', acceptedSentences),
  });
  return (
    <ConfirmDialog
      title="Reactivate Customer"
      message={`Reactivate "${customer.name}"? The customer will be visible in the customer list again.`}
      consequences={consequences}
      confirmLabel="Reactivate"
      {...confirmed}
    />
  );
}
