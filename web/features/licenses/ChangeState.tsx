import { useQuery } from '@tanstack/react-query';
import type { License } from '../../../contract/licenses.ts';
import { messageOf } from '../../api-error.ts';
import { acceptedSentence, refusedSentence } from '../../impact-labels.ts';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { toast } from '../../ui/toast.tsx';
import { useChange } from '../../use-change.ts';
import { licenseImpactQuery, reactivateLicense, revokeLicense } from './queries.ts';

type Props = { license: License; onClose: () => void };

const Key = ({ children }: { children: string }) => <span className="mono">{children}</span>;

/** Confirms a revocation, and offers Undo afterwards. */
export function RevokeLicense({ license, onClose }: Props) {
  const undo = useChange({
    mutationFn: reactivateLicense,
    onSuccess: ({ licenseKey }) => toast({ message: `License ${licenseKey} reactivated` }),
    onError: (error) => toast({ message: messageOf(error), tone: 'red' }),
  });
  const revoke = useChange({
    mutationFn: revokeLicense,
    onSuccess: ({ licenseId, licenseKey }) => {
      onClose();
      void toast({ message: `License ${licenseKey} revoked`, undo: () => undo.mutate(licenseId) });
    },
  });
  const consequences = useQuery({
    ...licenseImpactQuery([license]),
    select: ({ machines }) => [
      refusedSentence(machines),
      'The license can be reactivated. Its machines keep their seats.',
    ],
  });
  return (
    <ConfirmDialog
      title="Revoke License"
      message={
        <>
          Are you sure you want to revoke license <Key>{license.licenseKey}</Key>?
        </>
      }
      consequences={consequences}
      confirmLabel="Revoke"
      busy={revoke.isPending}
      error={revoke.error ? messageOf(revoke.error) : undefined}
      onConfirm={() => revoke.mutate(license.licenseId)}
      onClose={onClose}
    />
  );
}

/** Confirms the reactivation of a revoked license. */
export function ReactivateLicense({ license, onClose }: Props) {
  const reactivate = useChange({
    mutationFn: reactivateLicense,
    onSuccess: ({ licenseKey }) => {
      onClose();
      void toast({ message: `License ${licenseKey} reactivated` });
    },
  });
  const consequences = useQuery({
    ...licenseImpactQuery([license]),
    select: ({ machines }) => [acceptedSentence(machines)],
  });
  return (
    <ConfirmDialog
      title="Reactivate License"
      message={
        <>
          Are you sure you want to reactivate license <Key>{license.licenseKey}</Key>?
        </>
      }
      consequences={consequences}
      confirmLabel="Reactivate"
      busy={reactivate.isPending}
      error={reactivate.error ? messageOf(reactivate.error) : undefined}
      onConfirm={() => reactivate.mutate(license.licenseId)}
      onClose={onClose}
    />
  );
}
