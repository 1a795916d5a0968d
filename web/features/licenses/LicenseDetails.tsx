import { Button, Group, Stack } from '@mantine/core';
import { licenseRefusal, type License } from '../../../contract/licenses.ts';
import { CopyText } from '../../ui/CopyText.tsx';
import { focusLate } from '../../ui/focus-late.ts';
import { RelativeTime } from '../../ui/RelativeTime.tsx';
import { SeatUsage } from '../activations/index.ts';
import { RecordHistoryLink } from '../audit/index.ts';
import { ModulesByCategory } from '../modules/index.ts';
import { StateBadge, TypeBadge, ValidUntilCell } from './license-cells.tsx';
import { fieldLabels } from './license-form.ts';
import { ownerText } from './license-labels.ts';
import classes from './licenses.module.css';
import { utcDate } from '../../ui/time.ts';

/** A license that may not be edited, with the reason when its state is the cause. */
export function LicenseDetails({ license, onClose }: { license: License; onClose: () => void }) {
  const refusal = licenseRefusal.update(license);
  return (
    <Stack gap="md" ref={focusLate}>
      {refusal && (
        <div role="note" className={classes.note}>
          {refusal}
        </div>
      )}
      <dl className={classes.details}>
        <dt>License Key</dt>
        <dd>
          <CopyText value={license.licenseKey} what="license key" />
        </dd>
        <dt>{fieldLabels.customerId}</dt>
        <dd>{ownerText(license.customer)}</dd>
        <dt>{fieldLabels.type}</dt>
        <dd>
          <TypeBadge type={license.type} />
        </dd>
        <dt>Status</dt>
        <dd>
          <StateBadge license={license} />
        </dd>
        <dt>Activations</dt>
        <dd>
          <SeatUsage used={license.currentActivations} max={license.maxActivations} />
        </dd>
        <dt>{fieldLabels.validFrom}</dt>
        <dd>{utcDate(license.validFrom)}</dd>
        <dt>{fieldLabels.validUntil}</dt>
        <dd>
          <ValidUntilCell license={license} />
        </dd>
        <dt>Last changed</dt>
        <dd>
          <RelativeTime value={license.updatedAt} />
        </dd>
        <dt>{fieldLabels.moduleIds}</dt>
        <dd>
          <ModulesByCategory moduleIds={license.moduleIds} />
        </dd>
      </dl>
      <Group justify="flex-end">
        <RecordHistoryLink resourceType="license" resourceId={license.licenseId} />
        <Button variant="default" onClick={onClose} data-autofocus>
          Close
        </Button>
      </Group>
    </Stack>
  );
}
