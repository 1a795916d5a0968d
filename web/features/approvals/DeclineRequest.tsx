import type { ChangeRequest } from '../../../contract/approvals.ts';
import { useConfirmedChange } from '../../confirmed-change.ts';
import { ReasonDialog } from '../../ReasonDialog.tsx';
import { declineRequest } from './queries.ts';
import { aboutApproval } from '../../toast-subjects.ts';

/** Declines a request of another user, with a reason for them. */
export default function DeclineRequest({
  request,
  onClose,
}: {
  request: ChangeRequest;
  onClose: () => void;
}) {
  const confirmed = useConfirmedChange({
    change: (reason: string) => declineRequest(request, reason),
    done: () => ({ message: 'Request declined', subject: aboutApproval(request) }),
    onClose,
  });
  return (
    <ReasonDialog
      title="Decline Change"
      about={request.id}
      message={`Decline to ${request.what}? ${request.requestedBy} sees the reason, and can ask again.`}
      consequences="affects nobody else"
      confirmLabel="Decline"
      {...confirmed}
    />
  );
}
