import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { licenseRefusal } from '../../../contract/license-state.ts';
import type { License } from '../../../contract/licenses.ts';
import { LoadedForm } from '../../LoadedForm.tsx';
import { useEdit } from '../../edit-conflict.ts';
import { useBegun, useSeen } from '../../kept-work.ts';
import { useAuth } from '../../session.tsx';
import { ConflictDialog } from '../../ui/ConflictDialog.tsx';
import { CopyText } from '../../ui/CopyText.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { toast } from '../../ui/toast.tsx';
import { formHeights } from './RequireCustomers.tsx';
import { conflictRows } from './license-conflict.ts';
import { modalTerms } from '../../../contract/license-term.ts';
import { LicenseDetails } from './LicenseDetails.tsx';
import { LicenseForm } from './LicenseForm.tsx';
import classes from './licenses.module.css';
import { licenseQuery, updateLicense, type LicensePayload } from './queries.ts';
import { NewLicense } from './NewLicense.tsx';
import { aboutLicense, licenseToast } from '../../toast-subjects.ts';

const width = 480;

/**
 * Creates a license, or with an `id` edits it. Read-only when the state of the license or the permissions of the user
 * do not allow editing (spec part 1, section 2).
 */
export default function LicenseModal(props: {
  id?: string;
  /** Of the customer that a new license is for. */
  customerId?: string;
  /** The license that a new one is like. */
  like?: License;
  onClose: () => void;
}) {
  const { id, customerId, like, onClose } = props;
  if (id) return <ExistingLicense id={id} onClose={onClose} />;
  return (
    <Dialog title="Create License" size={width} onClose={onClose}>
      <NewLicense terms={modalTerms} customerId={customerId} like={like} onClose={onClose} />
    </Dialog>
  );
}

function ExistingLicense({ id, onClose }: { id: string; onClose: () => void }) {
  const { can } = useAuth();
  const license = useQuery(licenseQuery(id));
  const begun = useBegun(id, license.data !== undefined && licenseRefusal.update(license.data) === null);
  const edits = can.updateLicenses && (!license.data || begun);
  return (
    <Dialog
      title={edits ? 'Edit License' : 'View License'}
      subject={license.data?.licenseKey}
      size={width}
      onClose={onClose}
    >
      <LoadedForm query={license} title="Error loading license" record="license" heights={formHeights}>
        {(data) =>
          edits ? (
            <EditForm license={data} onClose={onClose} />
          ) : (
            <LicenseDetails license={data} onClose={onClose} />
          )
        }
      </LoadedForm>
    </Dialog>
  );
}

function EditForm({ license, onClose }: { license: License; onClose: () => void }) {
  const [seen] = useSeen(license.licenseId, license);
  // The fields of the customer that a conflict shows.
  const [customerName, setCustomerName] = useState('');
  const edit = useEdit({
    subject: aboutLicense(seen),
    save: (payload: LicensePayload, { updatedAt }) =>
      updateLicense(seen.licenseId, { ...payload, updatedAt }),
    onSaved: (saved) => {
      void toast(licenseToast(saved, 'updated'));
      onClose();
    },
    onGivenUp: onClose,
  });

  return (
    <>
      <div className={classes.formKey}>
        <CopyText value={seen.licenseKey} what="license key" />
      </div>
      <LicenseForm
        license={seen}
        terms={modalTerms}
        submitLabel="Update License"
        busy={edit.busy}
        error={edit.error}
        onSubmit={(payload, name) => {
          setCustomerName(name);
          edit.submit(payload, seen);
        }}
        onCancel={onClose}
      />
      <ConflictDialog edit={edit} rowsOf={(clash) => conflictRows(clash, license, customerName)} />
    </>
  );
}
