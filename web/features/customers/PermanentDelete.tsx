import { Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { customers } from '../../../contract/customers.ts';
import type { RouteAnswer } from '../../../contract/route.ts';
import { useConfirmedChange } from '../../confirmed-change.ts';
import { askedOnce } from '../../query-client.ts';
import { aboutCustomer } from '../../toast-subjects.ts';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { toast } from '../../ui/toast.tsx';
import { checkCustomerDeletable, hardDeleteCustomer } from './queries.ts';

type Props = {
  id: string;
  name: string;
  onClose: () => void;
  /** Shown when the service gives no reason why the customer cannot be deleted. */
  refusal?: string;
};

/**
 * Permanently deletes a soft-deleted customer. Runs the deletable check first, and asks for confirmation only if it
 * passes (spec part 1, section 5).
 */
export default function PermanentDelete({
  id,
  name,
  onClose,
  refusal = 'This customer cannot be permanently deleted at this time.',
}: Props) {
  const check = useQuery({
    queryKey: ['customers', 'deletable', id],
    queryFn: () => checkCustomerDeletable(id),
    // A deleted customer cannot be checked any more.
    ...askedOnce,
  });
  const failed = check.isError;
  useEffect(() => {
    if (!failed) return;
    void toast({
      message: 'Failed to check if customer can be deleted',
      subject: aboutCustomer({ customerId: id, name }),
      tone: 'red',
    });
    onClose();
  }, [failed, id, name, onClose]);

  if (!check.data) return null;
  if (!check.data.canDelete)
    return <CannotDelete message={check.data.message || refusal} onClose={onClose} />;
  return <ConfirmDelete id={id} name={name} check={check.data} onClose={onClose} />;
}

function CannotDelete({ message, onClose }: { message: string; onClose: () => void }) {
  return (
    <Dialog title="Cannot Delete Customer" onClose={onClose}>
      <Stack gap="md">
        <Text tabIndex={-1} data-autofocus>
          {message}
        </Text>
        <Group justify="flex-end">
          <Button onClick={onClose}>Close</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

function ConfirmDelete(
  props: Pick<Props, 'id' | 'name' | 'onClose'> & { check: RouteAnswer<typeof customers.checkDeletable> },
) {
  const { id, name, check, onClose } = props;
  const confirmed = useConfirmedChange({
    change: () => hardDeleteCustomer(id, check.updatedAt),
    done: () => ({ message: `Customer "${name}" permanently deleted`, subject: { name } }),
    onClose,
  });
  return (
    <ConfirmDialog
      severity="high"
      title="Permanently Delete Customer"
      message={
        <>
          Permanently delete customer &quot;{name}&quot;? This action CANNOT be undone and all associated
          licenses and activations will be deleted.
        </>
      }
      consequences={[check.message || 'What is deleted with it could not be counted.']}
      {...confirmed}
    />
  );
}
