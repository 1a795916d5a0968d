import { Text } from '@mantine/core';
import { requestHours } from '../../../contract/approvals.ts';
import { messageOf, type ApiError } from '../../api-error.ts';
import { endOffer } from '../../approval-store.ts';
import { ConfirmQuestion } from '../../ui/ConfirmDialog.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { withTimes } from '../../ui/time.ts';
import { toast } from '../../ui/toast.tsx';
import { useChange } from '../../use-change.ts';
import { askFor } from './queries.ts';
import { RequestChanges } from './RequestChanges.tsx';
import { aboutApproval } from '../../toast-subjects.ts';

/** Offers to ask a second person for a change that one may not make alone. */
export default function AskApproval({ refused }: { refused: ApiError }) {
  const close = () => endOffer(refused, false);
  const ask = useChange({
    mutationFn: () => askFor(refused),
    onSuccess: (request) => {
      endOffer(refused, true);
      void toast({ message: 'Approval requested', subject: aboutApproval(request) });
    },
  });
  return (
    <Dialog title="Ask a Second Person" onClose={close}>
      <ConfirmQuestion
        opensItself
        message={
          <>
            <Text>{refused.sentence && withTimes(refused.sentence)}</Text>
            <Text mt={6}>
              Ask for it, and another user who may make this change can approve exactly this within{' '}
              {requestHours} hours.
            </Text>
          </>
        }
        consequences="affects nobody else"
        confirmLabel="Ask"
        busy={ask.isPending}
        error={ask.error ? messageOf(ask.error) : undefined}
        onConfirm={() => ask.mutate()}
        onClose={close}
      >
        <RequestChanges changes={changesIn(refused)} />
      </ConfirmQuestion>
    </Dialog>
  );
}

const changesIn = ({ details }: ApiError) =>
  details
    .filter(({ path }) => path !== 'updatedAt')
    .map(({ path, current, yours }) => ({ field: path, from: current, to: yours }));
