import { SimpleGrid, TextInput } from '@mantine/core';
import { schemaResolver } from '@mantine/form';
import { countries } from '../../../contract/countries.ts';
import { customerInput, type Customer } from '../../../contract/customers.ts';
import { customerLabels } from '../../field-labels.ts';
import { useDialogForm } from '../../dialog-form.ts';
import { useRefusedFields } from '../../refused-fields.ts';
import { DialogForm } from '../../ui/DialogForm.tsx';
import { SearchSelect } from '../../ui/SearchSelect.tsx';
import { RecordHistoryLink } from '../audit/index.ts';
import type { CustomerPayload } from './queries.ts';
import { SimilarCustomers } from './SimilarCustomers.tsx';

type Values = Record<keyof typeof customerLabels, string>;

/** The first option. */
const noCountry = { value: '', label: 'Select a country' };
const countryChoices = [
  noCountry,
  ...countries.map(({ code, name, also }) => ({ value: code, label: name, also })),
];
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

const valuesOf = (customer: Customer | undefined, name = ''): Values => ({
  name: customer?.name ?? name,
  contactName: customer?.contactName ?? '',
  email: customer?.email ?? '',
  phone: customer?.phone ?? '',
  country: customer?.country ?? '',
});

/** Fields of the customer modal. It is not submitted while one of them is invalid. */
export function CustomerForm(props: {
  customer?: Customer;
  /** Company name of a new customer. */
  name?: string | undefined;
  submitLabel: string;
  busy: boolean;
  error: Error | null;
  onSubmit: (payload: CustomerPayload) => void;
  onCancel: () => void;
}) {
  const form = useDialogForm(props.customer?.customerId ?? 'new customer', {
    initialValues: valuesOf(props.customer, props.name),
    validate,
    validateInputOnBlur: ['email'],
  });
  const problem = useRefusedFields(props.error, form);

  return (
    <DialogForm
      onSubmit={form.onSubmit((values) => props.onSubmit(payloadOf(values)))}
      problem={problem}
      submitLabel={props.submitLabel}
      busy={props.busy}
      onCancel={props.onCancel}
      aside={
        props.customer && <RecordHistoryLink resourceType="customer" resourceId={props.customer.customerId} />
      }
    >
      <div>
        <TextInput label={customerLabels.name} required data-autofocus {...form.getInputProps('name')} />
        {!props.customer && <SimilarCustomers name={form.values.name} />}
      </div>
      <TextInput label={customerLabels.contactName} {...form.getInputProps('contactName')} />
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
        <TextInput label={customerLabels.email} type="email" {...form.getInputProps('email')} />
        <TextInput label={customerLabels.phone} type="tel" {...form.getInputProps('phone')} />
      </SimpleGrid>
      <SearchSelect
        label={customerLabels.country}
        required
        placeholder={noCountry.label}
        data={countryChoices}
        value={form.values.country || null}
        error={form.errors['country']}
        onChange={(code) => form.setFieldValue('country', code ?? '')}
        nothingFound="No such country"
      />
    </DialogForm>
  );
}
