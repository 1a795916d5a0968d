import { RecordLink } from '../../shell/RecordLink.tsx';
import type { MachineActivation } from './queries.ts';

/** A license by its key, linked for users who may see licenses. */
export const LicenseLink = ({ of: { licenseId, licenseKey } }: { of: MachineActivation }) => (
  <RecordLink kind="license" id={licenseId} className="mono">
    {licenseKey}
  </RecordLink>
);
