import type { License } from '../../../contract/licenses.ts';
import { LicenseMachines } from '../activations/index.ts';
import { LicenseFacts } from './LicenseDetails.tsx';
import { LicenseValidations } from './LicenseValidations.tsx';

/** A license beside the list: its facts, its machines, and what their validations answered. */
export default function LicensePeek({ license }: { license: License }) {
  return (
    <>
      <LicenseFacts license={license} />
      <LicenseMachines licenseKey={license.licenseKey} brief />
      <LicenseValidations licenseId={license.licenseId} />
    </>
  );
}
