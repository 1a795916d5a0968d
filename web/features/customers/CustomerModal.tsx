import { Modal } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Customer } from '../../../contract/customers.ts';
import { messageOf } from '../../api-error.ts';
import { useEdit } from '../../edit-conflict.ts';
import { ConflictDialog } from '../../ui/ConflictDialog.tsx';
import { FormSkeleton } from '../../ui/FormSkeleton.tsx';
import { ErrorState } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { conflictRows } from './customer-conflict.ts';
import { CustomerForm } from './CustomerForm.tsx';
import { createCustomer, customerQuery, updateCustomer, type CustomerPayload } from './customers.ts';

/** Add Customer, or Edit Customer when there is an `id` (spec part 1, section 2). */
export default function CustomerModal({ id, onClose }: { id?: string; onClose: () => void }) {
  const [conflicting, setConflicting] = useState(false);
  return (
    <Modal
      opened
      onClose={onClose}
      // Escape answers the question about the conflict first.
      closeOnEscape={!conflicting}
      title={id ? 'Edit Customer' : 'Add Customer'}
    >
      {id ? (
        <EditCustomer id={id} onConflict={setConflicting} onClose={onClose} />
      ) : (
        <AddCustomer onClose={onClose} />
      )}
    </Modal>
  );
}

function AddCustomer({ onClose }: { onClose: () => void }) {
  const create = useMutation({
    mutationFn: createCustomer,
    onSuccess: () => {
      void toast({ message: 'Customer created successfully' });
      onClose();
    },
  });
  return (
    <CustomerForm
      submitLabel="Create Customer"
      busy={create.isPending}
      error={create.error}
      onSubmit={(payload) => create.mutate(payload)}
      onCancel={onClose}
    />
  );
}

type EditHandlers = { onConflict: (conflict: boolean) => void; onClose: () => void };

function EditCustomer({ id, ...on }: EditHandlers & { id: string }) {
  const customer = useQuery(customerQuery(id));
  if (customer.isLoadingError) {
    return (
      <ErrorState
        title="Error loading customer"
        message={messageOf(customer.error)}
        onRetry={() => void customer.refetch()}
      />
    );
  }
  if (!customer.data) return <FormSkeleton heights={[48, 48, 48, 48]} />;
  return <EditForm customer={customer.data} {...on} />;
}

function EditForm({ customer, onConflict, onClose }: EditHandlers & { customer: Customer }) {
  // What the person began from; a later load of the same customer must not pass for having been seen.
  const [seen] = useState(customer);
  const edit = useEdit({
    save: (payload: CustomerPayload, updatedAt) => updateCustomer(seen.customerId, { ...payload, updatedAt }),
    onSaved: () => {
      void toast({ message: 'Customer updated successfully' });
      onClose();
    },
    onConflict,
  });

  return (
    <>
      <CustomerForm
        customer={seen}
        submitLabel="Update Customer"
        busy={edit.busy}
        error={edit.error}
        onSubmit={(payload) => edit.submit(payload, seen.updatedAt)}
        onCancel={onClose}
      />
      {edit.conflict && (
        <ConflictDialog
          rows={conflictRows(edit.conflict.error)}
          busy={edit.busy}
          onKeepTheirs={onClose}
          onSaveMine={edit.conflict.saveMine}
          onClose={edit.conflict.dismiss}
        />
      )}
    </>
  );
}
