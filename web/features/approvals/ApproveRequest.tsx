import { PasswordInput, Text } from '@mantine/core';
import type { ChangeRequest } from '../../../contract/approvals.ts';
import { asSentence } from '../../../contract/text.ts';
import { sentenceOf } from '../../api-error.ts';
import { useConfirmedChange } from '../../confirmed-change.ts';
import { Dialog } from '../../ui/Dialog.tsx';
import { DialogForm } from '../../ui/DialogForm.tsx';
import { submitTexts } from '../../ui/form-text.ts';
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
  const { busy, error, onConfirm } = useConfirmedChange({
    change: (password: string) => approveRequest(request, password),
    done: () => ({ message: 'Approved and carried out', subject: aboutApproval(request) }),
    problemOf: (problem) => sentenceOf(problem, 'Failed to approve'),
    onClose,
  });
  return (
    <Dialog title="Approve Change" subject={request.subject} onClose={onClose}>
      <DialogForm
        onSubmit={submitTexts((textOf) => onConfirm(textOf('currentPassword')))}
        problem={error}
        submitLabel="Approve"
        busy={busy}
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
