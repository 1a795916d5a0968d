import { Text } from '@mantine/core';
import type { ChangeRequest } from '../../../contract/approvals.ts';
import { asSentence } from '../../../contract/text.ts';
import { useConfirmedChange } from '../../confirmed-change.ts';
import { PasswordForm } from '../../PasswordForm.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
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
  const { busy, failure, onConfirm } = useConfirmedChange({
    change: (password: string) => approveRequest(request, password),
    done: () => ({ message: 'Approved and carried out', subject: aboutApproval(request) }),
    onClose,
  });
  return (
    <Dialog title="Approve Change" subject={request.subject} onClose={onClose}>
      <PasswordForm
        label="Your Password"
        error={failure}
        otherwise="Failed to approve"
        onPassword={onConfirm}
        submitLabel="Approve"
        busy={busy}
        onCancel={onClose}
      >
        <Text style={{ overflowWrap: 'anywhere' }}>
          {request.requestedBy} asks for this: {request.subject}: {asSentence(request.what)} Approving makes
          the change immediately, and the audit log names both of you.
        </Text>
        <RequestChanges changes={request.changes} />
      </PasswordForm>
    </Dialog>
  );
}
