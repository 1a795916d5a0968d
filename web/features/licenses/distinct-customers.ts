import { countryName } from '../../../contract/countries.ts';
import type { Customer } from '../../../contract/customers.ts';
import { folded } from '../../ui/folded.ts';

type Told = Pick<Customer, 'customerId' | 'name' | 'country' | 'email'>;

/** Choices of customers; hospitals of one name are told apart by what else is known of them, at last by their id. */
export function distinct(customers: readonly Told[]) {
  const isNameShared = sharedOf(customers.map(({ name }) => name));
  const longLabel = ({ name, country, email }: Told) =>
    [name, countryName(country), email].filter(Boolean).join(' · ');
  const isLabelShared = sharedOf(customers.map(longLabel));
  return customers.map((customer) => {
    const { customerId, name, email } = customer;
    const long = longLabel(customer);
    const label = !isNameShared(name) ? name : isLabelShared(long) ? `${long} · ${idEnd(customerId)}` : long;
    return { value: customerId, name, label, also: email ? [email] : [] };
  });
}

/** The random end of an id: ids begin with the time. */
const idEnd = (id: string) => id.slice(-12);

function sharedOf(texts: readonly string[]): (text: string) => boolean {
  const compared = texts.map(folded);
  return (text) => compared.indexOf(folded(text)) !== compared.lastIndexOf(folded(text));
}
