import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { License, TransferImpact } from '../../../contract/licenses.ts';
import { messageOf } from '../../api-error.ts';
import { useDialogForm } from '../../dialog-form.ts';
import { useEdit } from '../../edit-conflict.ts';
import { useSeen } from '../../kept-work.ts';
import { useRefusedFields } from '../../refused-fields.ts';
import { ConflictDialog } from '../../ui/ConflictDialog.tsx';
import { ConsequenceList, useIsCounting } from '../../ui/Consequences.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { DialogForm } from '../../ui/DialogForm.tsx';
import { toast } from '../../ui/toast.tsx';
import { aboutLicense } from '../../toast-subjects.ts';
import { useChange } from '../../use-change.ts';
import { CustomerSelect } from './CustomerSelect.tsx';
import { conflictRows } from './license-conflict.ts';
import { ownerText } from './license-labels.ts';
import { licenseQuery, transferImpactQuery, transferLicense } from './queries.ts';
import { transferSentences } from './transfer-sentences.ts';

type Values = { customerId: string; customerName: string };

/** `from`: the customer that had the license at last, which is not the one that was seen if a colleague transferred it. */
type Transfer = { moved: License; from: string };

/** Gives a license to another customer, after showing what changes for its machines. */
export default function TransferLicense(props: { license: License; onClose: () => void }) {
  return (
    <Dialog title="Transfer License" subject={props.license.licenseKey} onClose={props.onClose}>
      <TransferForm {...props} />
    </Dialog>
  );
}

/** By its key alone: the message says which customer it went to. */
const byKey = (moved: License) => ({ ...aboutLicense(moved), name: moved.licenseKey });

function TransferForm({ license, onClose }: { license: License; onClose: () => void }) {
  const [seen] = useSeen(`transfer ${license.licenseId}`, license);
  const form = useDialogForm<Values>(`transfer ${seen.licenseId}`, {
    initialValues: { customerId: '', customerName: '' },
    validate: ({ customerId }) =>
      customerId === ''
        ? { customerId: 'Customer is required' }
        : customerId === seen.customerId
          ? { customerId: 'The license belongs to this customer already' }
          : {},
  });
  const undo = useChange({
    mutationFn: ({ moved, from }: Transfer) => transferLicense(moved.licenseId, from, moved.updatedAt),
    onSuccess: (moved) =>
      toast({
        message: `License ${moved.licenseKey} is back with ${ownerText(moved.customer)}`,
        subject: byKey(moved),
      }),
    onError: (error, { moved }) => toast({ message: messageOf(error), subject: byKey(moved), tone: 'red' }),
  });
  const edit = useEdit({
    subject: aboutLicense(seen),
    save: ({ customerId }: { customerId: string }, { updatedAt }: License) =>
      transferLicense(seen.licenseId, customerId, updatedAt),
    onSaved: (moved, { base }) => {
      void toast({
        message: `License ${moved.licenseKey} transferred to ${ownerText(moved.customer)}`,
        subject: byKey(moved),
        undo: () => undo.mutate({ moved, from: base.customerId }),
      });
      onClose();
    },
    onGivenUp: onClose,
  });
  const stored = useQuery({ ...licenseQuery(seen.licenseId), enabled: edit.conflict !== undefined });
  const problem = useRefusedFields(edit.error, form);
  const { customerId, customerName } = form.values;
  const isChosen = customerId !== '' && customerId !== seen.customerId;
  const impact = useQuery({
    ...transferImpactQuery(seen.licenseId, customerId),
    enabled: isChosen,
    select: (data: TransferImpact) => transferSentences(data, ownerText(seen.customer)),
  });
  const isCounting = useIsCounting(isChosen ? impact : 'affects nobody else');
  return (
    <>
      <DialogForm
        onSubmit={form.onSubmit((values) => {
          if (!isCounting) edit.submit({ customerId: values.customerId }, seen);
        })}
        problem={problem}
        submitLabel="Transfer License"
        busy={edit.busy}
        waiting={isCounting}
        onCancel={onClose}
      >
        <Stack gap="md">
          <Text style={{ overflowWrap: 'anywhere' }}>
            License <span className="mono">{seen.licenseKey}</span> belongs to {ownerText(seen.customer)}.
          </Text>
          <CustomerSelect
            label="New Customer"
            required
            data-autofocus
            value={customerId || null}
            name={customerName || undefined}
            error={form.errors['customerId']}
            onChange={(id, name) => form.setValues({ customerId: id ?? '', customerName: name })}
          />
          {isChosen && <ConsequenceList of={impact} />}
        </Stack>
      </DialogForm>
      <ConflictDialog edit={edit} rowsOf={(clash) => conflictRows(clash, stored.data, customerName)} />
    </>
  );
}
