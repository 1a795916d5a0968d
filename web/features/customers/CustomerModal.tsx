import { useQuery } from '@tanstack/react-query';
import type { Customer } from '../../../contract/customers.ts';
import { countryName } from '../../../contract/countries.ts';
import { LoadedForm } from '../../LoadedForm.tsx';
import { differingFields, orDash, useEdit, type Clash } from '../../edit-conflict.ts';
import { customerLabels } from '../../field-labels.ts';
import { useSeen } from '../../kept-work.ts';
import { ConflictDialog } from '../../ui/ConflictDialog.tsx';
import { Dialog, useDialogSubject } from '../../ui/Dialog.tsx';
import { toast } from '../../ui/toast.tsx';
import { useChange } from '../../use-change.ts';
import { CustomerForm } from './CustomerForm.tsx';
import { createCustomer, customerQuery, updateCustomer, type CustomerPayload } from './queries.ts';
import { aboutCustomer } from '../../toast-subjects.ts';

type Created = {
  /** Company name that the form begins with. */
  name?: string;
  onCreated?: (customer: Customer) => void;
};

/** Add Customer, or Edit Customer when there is an `id` (spec part 1, section 2). */
export default function CustomerModal({ id, ...props }: Created & { id?: string; onClose: () => void }) {
  return (
    <Dialog title={id ? 'Edit Customer' : 'Add Customer'} onClose={props.onClose}>
      {id ? <EditCustomer id={id} onClose={props.onClose} /> : <AddCustomer {...props} />}
    </Dialog>
  );
}

function AddCustomer({ name, onCreated, onClose }: Created & { onClose: () => void }) {
  const create = useChange({
    mutationFn: createCustomer,
    onSuccess: (customer) => {
      void toast({ message: 'Customer created successfully', subject: aboutCustomer(customer) });
      onCreated?.(customer);
      onClose();
    },
  });
  return (
    <CustomerForm
      name={name}
      submitLabel="Create Customer"
      busy={create.isPending}
      error={create.error}
      onSubmit={(payload) => create.mutate(payload)}
      onCancel={onClose}
    />
  );
}

function EditCustomer({ id, onClose }: { id: string; onClose: () => void }) {
  const customer = useQuery(customerQuery(id));
  return (
    <LoadedForm query={customer} title="Error loading customer" record="customer" heights={[48, 48, 48, 48]}>
      {(data) => <EditForm customer={data} onClose={onClose} />}
    </LoadedForm>
  );
}

function EditForm({ customer, onClose }: { customer: Customer; onClose: () => void }) {
  const [seen] = useSeen(customer.customerId, customer);
  useDialogSubject(seen.name);
  const edit = useEdit({
    subject: aboutCustomer(seen),
    save: (payload: CustomerPayload, { updatedAt }) =>
      updateCustomer(seen.customerId, { ...payload, updatedAt }),
    onSaved: (saved) => {
      void toast({ message: 'Customer updated successfully', subject: aboutCustomer(saved) });
      onClose();
    },
    onGivenUp: onClose,
  });

  return (
    <>
      <CustomerForm
        customer={seen}
        submitLabel="Update Customer"
        busy={edit.busy}
        error={edit.error}
        onSubmit={(payload) => edit.submit(payload, seen)}
        onCancel={onClose}
      />
      <ConflictDialog edit={edit} rowsOf={conflictRows} />
    </>
  );
}

const conflictRows = (clash: Clash) =>
  differingFields(clash, customerLabels, { country: orDash(countryName) });
