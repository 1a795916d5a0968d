import { useQuery } from '@tanstack/react-query';
import type { License, LicenseImpact } from '../../../contract/licenses.ts';
import { messageOf } from '../../api-error.ts';
import { useConfirmedChange } from '../../confirmed-change.ts';
import { acceptedSentences, refusedSentences } from '../../impact-labels.ts';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { toast } from '../../ui/toast.tsx';
import { useChange } from '../../use-change.ts';
import { licenseImpactQuery, reactivateLicense, revokeLicense } from './queries.ts';
import { aboutLicense, licenseToast } from '../../toast-subjects.ts';

const changes = {
  revoke: {
    title: 'Revoke License',
    label: 'Revoke',
    past: 'revoked',
    run: revokeLicense,
    consequencesOf: (affected: LicenseImpact) => [
      ...refusedSentences(affected),
      'The license can be reactivated. Its machines keep their seats.',
    ],
  },
  reactivate: {
    title: 'Reactivate License',
    label: 'Reactivate',
    past: 'reactivated',
    run: reactivateLicense,
    consequencesOf: acceptedSentences,
  },
} as const;

/** Confirms that a license is revoked or reactivated; a revocation offers Undo afterwards. */
export function ChangeState(props: { change: keyof typeof changes; license: License; onClose: () => void }) {
  const { change, license } = props;
  const { title, label, past, run, consequencesOf } = changes[change];
  const undo = useChange({
    mutationFn: reactivateLicense,
    onSuccess: (changed) => toast(licenseToast(changed, 'reactivated')),
    onError: (error) => toast({ message: messageOf(error), subject: aboutLicense(license), tone: 'red' }),
  });
  const confirmed = useConfirmedChange({
    change: () => run(license),
    done: (changed) => ({
      ...licenseToast(changed, past),
      ...(change === 'revoke' && { undo: () => undo.mutate(changed) }),
    }),
    onClose: props.onClose,
  });
  const consequences = useQuery({
    ...licenseImpactQuery([license]),
    select: consequencesOf,
  });
  return (
    <ConfirmDialog
      title={title}
      message={
        <>
          Are you sure you want to {change} license <span className="mono">{license.licenseKey}</span>?
        </>
      }
      consequences={consequences}
      confirmLabel={label}
      // its key and place are those of Revoke, and a colleague may have revoked it just now
      opensItself={change === 'reactivate'}
      {...confirmed}
    />
  );
}
