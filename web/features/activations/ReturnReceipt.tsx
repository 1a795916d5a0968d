import { Text } from '@mantine/core';
import type { License } from '../../../contract/licenses.ts';
import { useDialogForm } from '../../dialog-form.ts';
import { useRefusedFields } from '../../refused-fields.ts';
import { Dialog } from '../../ui/Dialog.tsx';
import { DialogForm } from '../../ui/DialogForm.tsx';
import { useLastFile } from '../../ui/last-file.ts';
import { toast } from '../../ui/toast.tsx';
import { useChange } from '../../use-change.ts';
import { checkSigned } from './offline-form.ts';
import { giveBackSeat } from './queries.ts';
import { SignedText } from './SignedText.tsx';
import { aboutSeat } from '../../toast-subjects.ts';

type Props = { license: Pick<License, 'licenseId' | 'licenseKey'>; onClose: () => void };

/** Frees the seat of an offline machine with the receipt that its program made when it gave its license file up. */
export default function ReturnReceipt(props: Props) {
  return (
    <Dialog title="Return Receipt" subject={props.license.licenseKey} size={520} onClose={props.onClose}>
      <ReceiptForm {...props} />
    </Dialog>
  );
}

function ReceiptForm({ license, onClose }: Props) {
  const form = useDialogForm<{ receipt: string }>(`return receipt ${license.licenseId}`, {
    initialValues: { receipt: '' },
    validate: ({ receipt }) => checkSigned('receipt', 'Receipt', receipt),
  });
  const returned = useChange({
    mutationFn: (receipt: string) => giveBackSeat(license.licenseId, receipt),
    onSuccess: ({ machineId }) => {
      onClose();
      void toast({
        message: `Machine ${machineId} gave its seat back`,
        subject: aboutSeat(license.licenseKey, machineId),
      });
    },
  });
  const file = useLastFile();
  const problem = useRefusedFields(returned.error, form);
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ receipt }) => returned.mutate(receipt))}
      problem={problem}
      submitLabel="Free the Seat"
      busy={returned.isPending}
      waiting={file.isReading}
      onCancel={onClose}
    >
      <Text>
        A program that gives up its license file shows a receipt. It proves that the machine no longer runs
        offline, and its seat is free at once.
      </Text>
      <SignedText
        label="Receipt"
        file={file}
        onReject={(message) => form.setFieldError('receipt', message)}
        {...form.getInputProps('receipt')}
      />
    </DialogForm>
  );
}
