import { Alert, Button, Group, SimpleGrid } from '@mantine/core';
import { type FormErrors, type UseFormReturnType } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { moduleLabel } from '../../../contract/module-ids.ts';
import { extensions, type Term, type Terms } from '../../../contract/license-term.ts';
import { maxActivationsLimit, type License } from '../../../contract/licenses.ts';
import { licenseTypes } from '../../../contract/list-words.ts';
import { licenseLabels } from '../../field-labels.ts';
import { useDialogForm } from '../../dialog-form.ts';
import { useKept } from '../../kept-work.ts';
import { useRefusedFields } from '../../refused-fields.ts';
import { oneOf } from '../../search-params.ts';
import { useAuth } from '../../session.tsx';
import { isDay } from '../../ui/day.ts';
import { DayField } from '../../ui/DayField.tsx';
import { DialogForm } from '../../ui/DialogForm.tsx';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { NumberField } from '../../ui/NumberField.tsx';
import { useNow } from '../../ui/use-now.ts';
import { Select } from '../../ui/Select.tsx';
import { RecordHistoryLink } from '../audit/index.ts';
import { CustomerModal } from '../customers/index.ts';
import { ModulePicker, modulesQuery } from '../modules/index.ts';
import { CustomerSelect } from './CustomerSelect.tsx';
import {
  endText,
  extendedBy,
  payloadOf,
  seatsText,
  validate,
  valuesLike,
  valuesOf,
  withTerm,
  type LicenseValues,
} from './license-form.ts';
import { typeBadges } from './license-labels.ts';
import type { LicensePayload } from './queries.ts';

const types = licenseTypes.map((type) => ({ value: type, label: typeBadges[type].word }));

type Props = {
  license?: License;
  /** Id of the customer that a new license is for. */
  customerId?: string | undefined;
  /** The license that a new one is like. */
  like?: License | undefined;
  /** Default term of each license type. */
  terms: Terms;
  submitLabel: string;
  busy: boolean;
  error: Error | null;
  onSubmit: (payload: LicensePayload, customerName: string) => void;
  onCancel: () => void;
};

/** The key of the form of a new license. */
export const newLicenseKey = (like: License | undefined): string => `new license ${like?.licenseId}`;

/** Fields of the license modal and of the page /licenses/new. It is not submitted while one of them is invalid. */
export function LicenseForm(props: Props) {
  const { license, like, terms } = props;
  const { can } = useAuth();
  const [newCustomer, setNewCustomer] = useKept<{ name: string }>('open: customer of a license');
  const now = useNow();
  const form = useDialogForm(license?.licenseId ?? newLicenseKey(like), {
    initialValues: {
      ...(like ? valuesLike(like, terms, now) : valuesOf(license, terms, now)),
      ...(props.customerId && { customerId: props.customerId }),
    },
    validate: (values) => validate(values, license),
    validateInputOnBlur: ['maxActivations', 'validFrom', 'validUntil'],
  });
  const problem = useRefusedFields(props.error, form);
  const offered = useQuery(modulesQuery).data;
  // a license keeps the modules that it has; a new one would be refused with them
  const isOffered = (id: string) => !offered || offered.some(({ moduleId }) => moduleId === id);
  const leftOut = like?.moduleIds.filter((id) => !isOffered(id)) ?? [];
  const moduleIds = form.values.moduleIds.filter((id) => license || isOffered(id));

  const setCustomer = (customerId: string, customerName: string) =>
    form.setValues({ customerId, customerName });

  return (
    <>
      <DialogForm
        onSubmit={form.onSubmit((values) =>
          props.onSubmit(payloadOf({ ...values, moduleIds }, license), values.customerName),
        )}
        problem={problem}
        submitLabel={props.submitLabel}
        busy={props.busy}
        onCancel={props.onCancel}
        aside={license && <RecordHistoryLink resourceType="license" resourceId={license.licenseId} />}
      >
        {leftOut.length > 0 && (
          <Alert color="gray" variant="light" p="xs" role="note">
            {`No longer offered, and left out: ${leftOut.map(moduleLabel).join(', ')}`}
          </Alert>
        )}
        <CustomerSelect
          label={licenseLabels.customerId}
          required
          data-autofocus
          value={form.values.customerId || null}
          name={form.values.customerName || undefined}
          error={form.errors['customerId']}
          onChange={(id, customerName) => setCustomer(id ?? '', customerName)}
          onCreate={can.createCustomers ? (name) => setNewCustomer({ name }) : undefined}
        />
        <TermFields form={form} license={license} terms={terms} />
        <ModulePicker
          value={moduleIds}
          onChange={(chosen) => form.setFieldValue('moduleIds', chosen)}
          error={form.errors['moduleIds']}
        />
      </DialogForm>
      {/* Outside of the form: its submit would bubble to this one. */}
      <LazyDialogs>
        {newCustomer && (
          <CustomerModal
            name={newCustomer.name}
            onCreated={({ customerId, name }) => setCustomer(customerId, name)}
            onClose={() => setNewCustomer(undefined)}
          />
        )}
      </LazyDialogs>
    </>
  );
}

/** Type, seats and days; the type and the first day set the last one. */
function TermFields({
  form,
  license,
  terms,
}: {
  form: UseFormReturnType<LicenseValues, LicenseValues, (values: LicenseValues) => FormErrors>;
  license?: License | undefined;
  terms: Terms;
}) {
  const follow = (changes: Partial<LicenseValues>) =>
    form.setValues(withTerm({ ...form.values, ...changes }, terms, license));
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
      <Select
        label={licenseLabels.type}
        data={types}
        allowDeselect={false}
        {...form.getInputProps('type')}
        onChange={(value) => follow({ type: oneOf(licenseTypes, value ?? undefined) ?? form.values.type })}
      />
      <NumberField
        label={licenseLabels.maxActivations}
        description={seatsText(form.values.maxActivations, license)}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        required
        min={1}
        max={maxActivationsLimit}
        {...form.getInputProps('maxActivations')}
      />
      <DayField
        label={licenseLabels.validFrom}
        required
        {...form.getInputProps('validFrom')}
        onChange={(validFrom) => validFrom !== form.values.validFrom && follow({ validFrom })}
      />
      <div>
        <DayField
          label={licenseLabels.validUntil}
          description={endText(form.values, license)}
          required
          {...form.getInputProps('validUntil')}
          // typed in another way, the day is the same
          onChange={(validUntil) =>
            validUntil !== form.values.validUntil && form.setValues({ validUntil, untilTime: undefined })
          }
        />
        <Extend
          disabled={!isDay(form.values.validUntil)}
          onExtend={(term) => form.setValues(extendedBy(term, form.values, license))}
        />
      </div>
    </SimpleGrid>
  );
}

/** Buttons that add a term to the end in the field. */
function Extend({ disabled, onExtend }: { disabled: boolean; onExtend: (term: Term) => void }) {
  return (
    <Group gap={6} mt={6} role="group" aria-label={`Extend ${licenseLabels.validUntil}`}>
      {extensions.map(({ label, term }) => (
        <Button
          key={label}
          variant="default"
          size="compact-xs"
          disabled={disabled}
          onClick={() => onExtend(term)}
        >
          {label}
        </Button>
      ))}
    </Group>
  );
}
