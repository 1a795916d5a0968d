import { Button, Group, Stack } from '@mantine/core';
import { licenseRefusal } from '../../../contract/license-state.ts';
import type { License } from '../../../contract/licenses.ts';
import { licenseLabels } from '../../field-labels.ts';
import { CopiedLicense } from '../../shell/RecordLink.tsx';
import { Facts } from '../../ui/Facts.tsx';
import { focusLate } from '../../ui/focus-late.ts';
import { ExactTime } from '../../ui/RelativeTime.tsx';
import { SeatUsage } from '../activations/index.ts';
import { RecordHistoryLink } from '../audit/index.ts';
import { ModulesByCategory } from '../modules/index.ts';
import { CustomerCell, StateBadge, TypeBadge, ValidUntilCell } from './license-cells.tsx';
import { utcDate } from '../../ui/time.ts';

/** What there is to know about a license without its page. */
export const LicenseFacts = ({ license }: { license: License }) => (
  <Facts
    facts={{
      'License Key': <CopiedLicense {...license} />,
      [licenseLabels.customerId]: <CustomerCell {...license} />,
      [licenseLabels.type]: <TypeBadge type={license.type} />,
      Status: <StateBadge license={license} />,
      Activations: <SeatUsage used={license.currentActivations} max={license.maxActivations} />,
      [licenseLabels.validFrom]: utcDate(license.validFrom),
      [licenseLabels.validUntil]: <ValidUntilCell license={license} />,
      'Last changed': <ExactTime value={license.updatedAt} />,
      [licenseLabels.moduleIds]: <ModulesByCategory moduleIds={license.moduleIds} />,
    }}
  />
);

/** A license that may not be edited, with the reason when its state is the cause. */
export function LicenseDetails({ license, onClose }: { license: License; onClose: () => void }) {
  const refusal = licenseRefusal.update(license);
  return (
    <Stack gap="md" ref={focusLate}>
      {refusal && (
        <div role="note" className="amber-note">
          {refusal}
        </div>
      )}
      <LicenseFacts license={license} />
      <Group justify="flex-end">
        <RecordHistoryLink resourceType="license" resourceId={license.licenseId} />
        <Button variant="default" onClick={onClose} data-autofocus>
          Close
        </Button>
      </Group>
    </Stack>
  );
}
