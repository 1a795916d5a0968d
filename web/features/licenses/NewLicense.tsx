import { aboutLicense } from '../../toast-subjects.ts';
import { toast } from '../../ui/toast.tsx';
import { useChange, useIsLeft } from '../../use-change.ts';
import { RequireCustomers } from './RequireCustomers.tsx';
import type { Terms } from '../../../contract/license-term.ts';
import type { License } from '../../../contract/licenses.ts';
import { LicenseCreated } from './LicenseCreated.tsx';
import { LicenseForm, newLicenseKey } from './LicenseForm.tsx';
import { createLicense, type LicensePayload } from './queries.ts';

/** The form of a new license, then its key. */
export function NewLicense(props: {
  terms: Terms;
  customerId?: string | undefined;
  like?: License | undefined;
  onClose: () => void;
}) {
  const { terms, customerId, like, onClose } = props;
  const isLeft = useIsLeft();
  const create = useChange({
    mutationFn: (payload: LicensePayload) => createLicense(payload),
    onSuccess: (license) => {
      const subject = aboutLicense(license);
      if (isLeft()) void toast({ message: `License ${subject.name} created`, subject });
    },
  });
  if (create.data) return <LicenseCreated license={create.data} onAnother={create.reset} onDone={onClose} />;
  return (
    <RequireCustomers formKey={newLicenseKey(like)}>
      <LicenseForm
        terms={terms}
        customerId={customerId}
        like={like}
        submitLabel="Create License"
        busy={create.isPending}
        error={create.error}
        onSubmit={(payload) => create.mutate(payload)}
        onCancel={onClose}
      />
    </RequireCustomers>
  );
}
