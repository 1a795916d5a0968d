import { SimpleGrid, Stack, TextInput } from '@mantine/core';
import { schemaResolver } from '@mantine/form';
import type { ReactNode } from 'react';
import { countries } from '../../../contract/countries.ts';
import { customerInput, type Customer } from '../../../contract/customers.ts';
import { useDialogForm } from '../../dialog-form.ts';
import { useRefusedFields } from '../../refused-fields.ts';
import { focusLate } from '../../ui/focus-late.ts';
import { FormActions } from '../../ui/FormActions.tsx';
import { SearchSelect } from '../../ui/SearchSelect.tsx';
import { RecordHistoryLink } from '../audit/index.ts';
import { fieldLabels } from './customer-conflict.ts';
import type { CustomerPayload } from './queries.ts';

type Values = Record<keyof typeof fieldLabels, string>;

const noCountry = { value: '', label: 'Select a country' };
const countryChoices = [noCountry, ...countries.map(({ code, name }) => ({ value: code, label: name }))];
const checkAgainstContract = schemaResolver(customerInput, { sync: true });

function validate(values: Values) {
  const errors = checkAgainstContract(payloadOf(values));
  return values.country ? errors : { ...errors, country: 'Country is required' };
}

/** Empty optional fields are omitted (spec part 1, section 5). */
function payloadOf({ name, country, ...optional }: Values): CustomerPayload {
  const given = Object.entries(optional).filter(([, value]) => value.trim() !== '');
  return { name, country, ...Object.fromEntries(given) };
}

const valuesOf = (customer: Customer | undefined): Values => ({
  name: customer?.name ?? '',
  contactName: customer?.contactName ?? '',
  email: customer?.email ?? '',
  phone: customer?.phone ?? '',
  country: customer?.country ?? '',
});

/** Fields of the customer modal. It is not submitted while one of them is invalid. */
export function CustomerForm(props: {
  customer?: Customer;
  submitLabel: string;
  busy: boolean;
  error: Error | null;
  onSubmit: (payload: CustomerPayload) => void;
  onCancel: () => void;
}) {
  const form = useDialogForm(props.customer?.customerId ?? 'new customer', {
    initialValues: valuesOf(props.customer),
    validate,
    validateInputOnBlur: ['email'],
  });
  const problem = useRefusedFields(props.error, form);

  return (
    <form ref={focusLate} noValidate onSubmit={form.onSubmit((values) => props.onSubmit(payloadOf(values)))}>
      <Stack gap="md">
        <TextInput
          label={fieldLabels.name}
          required
          data-autofocus
          maxLength={200}
          {...form.getInputProps('name')}
        />
        <TextInput label={fieldLabels.contactName} maxLength={200} {...form.getInputProps('contactName')} />
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
          <TextInput
            label={fieldLabels.email}
            type="email"
            maxLength={320}
            {...form.getInputProps('email')}
          />
          <TextInput label={fieldLabels.phone} type="tel" maxLength={50} {...form.getInputProps('phone')} />
        </SimpleGrid>
        <CountrySelect
          value={form.values.country}
          error={form.errors['country']}
          onChange={(code) => form.setFieldValue('country', code)}
        />
        <FormActions
          problem={problem}
          submitLabel={props.submitLabel}
          busy={props.busy}
          onCancel={props.onCancel}
        >
          {props.customer && (
            <RecordHistoryLink resourceType="customer" resourceId={props.customer.customerId} />
          )}
        </FormActions>
      </Stack>
    </form>
  );
}

/** Searchable; the first option is the empty one. */
function CountrySelect(props: { value: string; onChange: (code: string) => void; error: ReactNode }) {
  const { value, onChange, error } = props;
  return (
    <SearchSelect
      error={error}
      label={fieldLabels.country}
      required
      placeholder={noCountry.label}
      data={countryChoices}
      value={value || null}
      onChange={(code) => onChange(code ?? '')}
      nothingFound="No such country"
    />
  );
}
