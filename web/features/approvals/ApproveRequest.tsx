import { PasswordInput, Text } from '@mantine/core';
import type { ChangeRequest } from '../../../contract/approvals.ts';
import { asSentence } from '../../../contract/text.ts';
import { sentenceOf } from '../../api-error.ts';
import { Dialog } from '../../ui/Dialog.tsx';
import { DialogForm } from '../../ui/DialogForm.tsx';
import { submitTexts } from '../../ui/form-text.ts';
import { toast } from '../../ui/toast.tsx';
import { useChange } from '../../use-change.ts';
import { approveRequest } from './queries.ts';
import { RequestChanges } from './RequestChanges.tsx';
import { aboutApproval } from '../../toast-subjects.ts';

/** Approves a change, with the password of the second person. */
export default function ApproveRequest({
  request,
  onClose,
}: {
  request: ChangeRequest;
  onClose: () => void;
}) {
  const approve = useChange({
    mutationFn: (password: string) => approveRequest(request, password),
    onSuccess: () => {
      void toast({ message: 'Approved and carried out', subject: aboutApproval(request) });
      onClose();
    },
  });
  return (
    <Dialog title="Approve Change" subject={request.subject} onClose={onClose}>
      <DialogForm
        onSubmit={submitTexts((textOf) => approve.mutate(textOf('currentPassword')))}
        problem={approve.error ? sentenceOf(approve.error, 'Failed to approve') : undefined}
        submitLabel="Approve"
        busy={approve.isPending}
        onCancel={onClose}
      >
        <Text style={{ overflowWrap: 'anywhere' }}>
          {request.requestedBy} asks for this: {request.subject}: {asSentence(request.what)} Approving makes
          the change immediately, and the audit log names both of you.
        </Text>
        <RequestChanges changes={request.changes} />
        <PasswordInput
          label="Your Password"
          name="currentPassword"
          autoComplete="current-password"
          required
          data-autofocus
        />
      </DialogForm>
    </Dialog>
  );
}
