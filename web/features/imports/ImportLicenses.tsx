import { Button, Group, Stack, Text } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { imports, licenseFileColumns, type ImportedLicense } from '../../../contract/imports.ts';
import { moduleLabel } from '../../../contract/module-ids.ts';
import { call } from '../../api.ts';
import { useShownOnce } from '../../kept-work.ts';
import { paths } from '../../paths.ts';
import { useAuth } from '../../session.tsx';
import { LicenseLink, RecordLink } from '../../shell/RecordLink.tsx';
import { BoxedList } from '../../ui/BoxedList.tsx';
import { counted } from '../../ui/counted.ts';
import { Dialog } from '../../ui/Dialog.tsx';
import { focusLate } from '../../ui/focus-late.ts';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { IconDownload } from '../../ui/icons.tsx';
import { utcDate } from '../../ui/time.ts';
import { toast } from '../../ui/toast.tsx';
import { useIsLeft } from '../../use-change.ts';
import { CsvImport } from './CsvImport.tsx';
import { countText } from '../../ui/numbers.ts';

const columns = Object.values(licenseFileColumns);
const template = {
  name: 'licenses.csv',
  text: `${columns.join(',')}\r\nSt. Mary's Hospital,Ireland,enterprise,3,2027-01-01,2028-01-01,"Lung Nodule, COPD"\r\n`,
};

const cells: Record<string, (row: ImportedLicense) => ReactNode> = {
  [licenseFileColumns.customer]: ({ customerName, isNewCustomer }) => (
    <>
      {customerName} {isNewCustomer && <StatusBadge tone="teal">New</StatusBadge>}
    </>
  ),
  [licenseFileColumns.type]: ({ type }) => (type === 'trial' ? 'Trial' : 'Enterprise'),
  [licenseFileColumns.maxActivations]: ({ maxActivations }) => countText(maxActivations),
  [licenseFileColumns.validFrom]: ({ validFrom }) => utcDate(validFrom),
  [licenseFileColumns.validUntil]: ({ validUntil }) => utcDate(validUntil),
  [licenseFileColumns.moduleIds]: ({ moduleIds }) => moduleIds.map(moduleLabel).join(', ') || '—',
};

type Made = Awaited<ReturnType<typeof save>>;
const save = (csv: string, createCustomers: boolean, checked: string) =>
  call(imports.licenses, { body: { csv, createCustomers, checked } });

/** Issues the licenses of a CSV file, then shows their keys. */
export default function ImportLicenses({ onClose }: { onClose: () => void }) {
  const { can } = useAuth();
  const [issued, setIssued] = useState<Made>();
  const made = useShownOnce('licenses imported', issued);
  const isLeft = useIsLeft();
  const onSaved = (saved: Made) => {
    if (!isLeft()) return setIssued(saved);
    const name = counted(saved.licenses.length, 'license');
    void toast({ message: `${name} issued`, subject: { name, to: paths.licenses } });
  };
  return (
    <Dialog title="Import Licenses" size={760} onClose={onClose}>
      {made ? (
        <Keys made={made} onClose={onClose} />
      ) : (
        <CsvImport
          noun="license"
          verb="Issue"
          columns={columns}
          template={template}
          option={
            can.createCustomers
              ? (count) =>
                  `Create ${count === 0 ? 'customers' : counted(count, 'customer')} that ${count === 1 ? 'does' : 'do'} not exist`
              : undefined
          }
          check={(csv, createCustomers, signal) =>
            call(imports.checkLicenses, { body: { csv, createCustomers } }, { signal })
          }
          save={save}
          cells={cells}
          onSaved={onSaved}
          onClose={onClose}
        />
      )}
    </Dialog>
  );
}

function Keys({ made, onClose }: { made: Made; onClose: () => void }) {
  const { licenses, customers, csv } = made;
  return (
    <Stack gap="md" ref={focusLate}>
      <Text role="status">
        {counted(licenses.length, 'license')} issued
        {customers > 0 && `, ${counted(customers, 'customer')} created`}. Send the keys to the customers:
      </Text>
      <BoxedList label="License keys">
        {licenses.map(({ licenseId, licenseKey, customerId, customer }) => (
          <li key={licenseId}>
            <LicenseLink licenseId={licenseId} licenseKey={licenseKey} />{' '}
            {customer && (
              <RecordLink kind="customer" id={customerId}>
                {customer.name}
              </RecordLink>
            )}
          </li>
        ))}
      </BoxedList>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          Done
        </Button>
        <Button
          component="a"
          data-autofocus
          href={`data:text/csv;charset=utf-8,${encodeURIComponent(csv)}`}
          download="new-licenses.csv"
          leftSection={<IconDownload />}
        >
          Download CSV
        </Button>
      </Group>
    </Stack>
  );
}
