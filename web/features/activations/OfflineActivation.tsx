import { Button, Group, Stack, Text } from '@mantine/core';
import { licenseFileDays } from '../../../contract/offline.ts';
import type { License } from '../../../contract/licenses.ts';
import { useDialogForm } from '../../dialog-form.ts';
import { useShownOnce } from '../../kept-work.ts';
import { useRefusedFields } from '../../refused-fields.ts';
import { aboutSeat } from '../../toast-subjects.ts';
import { CopyAndDownload } from '../../ui/CopyAndDownload.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { DialogForm } from '../../ui/DialogForm.tsx';
import { focusLate } from '../../ui/focus-late.ts';
import { useLastFile } from '../../ui/last-file.ts';
import { NumberField } from '../../ui/NumberField.tsx';
import { QrCode } from '../../ui/QrCode.tsx';
import { utcDate } from '../../ui/time.ts';
import { toast } from '../../ui/toast.tsx';
import type { TypedNumber } from '../../ui/typed-number.ts';
import { useNow } from '../../ui/use-now.ts';
import { useChange, useIsLeft } from '../../use-change.ts';
import { checkOffline, offlineUntilText } from './offline-form.ts';
import { issueLicenseFile, type LicenseFile } from './queries.ts';
import { SignedText } from './SignedText.tsx';

type Props = {
  graceDays: number;
  license: Pick<License, 'licenseId' | 'licenseKey' | 'validUntil'>;
  onClose: () => void;
};

/** Turns the request of a machine without a network into its license file. */
export default function OfflineActivation({ license, graceDays, onClose }: Props) {
  const isLeft = useIsLeft();
  const issue = useChange({
    mutationFn: issueLicenseFile,
    onSuccess: ({ activation: { machineId } }) => {
      const message = `A license file for ${machineId} was made, but not shown. Make another from the same request.`;
      if (isLeft()) void toast({ message, subject: aboutSeat(license.licenseKey, machineId) });
    },
  });
  const file = useShownOnce(`license file of ${license.licenseId}`, issue.data);
  return (
    <Dialog
      title={file ? 'License File' : 'Offline Activation'}
      subject={license.licenseKey}
      size={520}
      held={issue.isPending ? 'all' : file ? 'slips' : undefined}
      onClose={onClose}
    >
      {file ? (
        <Issued file={file} onDone={onClose} />
      ) : (
        <RequestForm
          license={license}
          graceDays={graceDays}
          busy={issue.isPending}
          error={issue.error}
          onSubmit={(body) => issue.mutate({ licenseId: license.licenseId, ...body })}
          onCancel={onClose}
        />
      )}
    </Dialog>
  );
}

function RequestForm(props: {
  license: Props['license'];
  graceDays: number;
  busy: boolean;
  error: Error | null;
  onSubmit: (body: { request: string; days: number }) => void;
  onCancel: () => void;
}) {
  const { license } = props;
  const now = useNow();
  const form = useDialogForm<{ request: string; days: TypedNumber }>(
    `offline activation ${license.licenseId}`,
    {
      initialValues: { request: '', days: licenseFileDays.byDefault },
      validate: checkOffline,
      validateInputOnBlur: ['days'],
    },
  );
  const file = useLastFile();
  const problem = useRefusedFields(props.error, form);
  const { days } = form.getValues();
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ request }) => props.onSubmit({ request, days: Number(days) }))}
      problem={problem}
      submitLabel="Create License File"
      busy={props.busy}
      waiting={file.isReading}
      onCancel={props.onCancel}
    >
      <Text>
        For a machine without a network. Its program makes a request; the license file made from it takes a
        seat of this license until it ends.
      </Text>
      <SignedText
        label="Request"
        file={file}
        onReject={(message) => form.setFieldError('request', message)}
        {...form.getInputProps('request')}
      />
      <NumberField
        label="Days Offline"
        required
        min={licenseFileDays.least}
        max={licenseFileDays.most}
        description={offlineUntilText(days, props.graceDays, license.validUntil, now)}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        {...form.getInputProps('days')}
      />
    </DialogForm>
  );
}

/** Wide enough for cameras to tell apart the modules of a code with about a thousand characters. */
const codeSize = 400;

function Issued({ file, onDone }: { file: LicenseFile; onDone: () => void }) {
  return (
    <Stack gap="md" ref={focusLate}>
      <Text role="status" tabIndex={-1} data-autofocus>
        Machine <span className="mono">{file.activation.machineId}</span> may run offline until{' '}
        {utcDate(file.endsAt)}. Bring it this file, or show the code to its camera.
      </Text>
      <CopyAndDownload text={file.licenseFile} fileName={file.fileName} />
      <QrCode text={file.licenseFile} label="The license file as a QR code" size={codeSize} />
      <Group justify="flex-end">
        <Button onClick={onDone}>Done</Button>
      </Group>
    </Stack>
  );
}
