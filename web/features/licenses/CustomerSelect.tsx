import { Loader, Select, type SelectProps } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useAuth } from '../../session.tsx';
import { customerChoicesQuery, customerQuery } from '../customers/customers.ts';

const settleAfter = 200;
/** Inside the dialog or page that it belongs to, for those who go by landmarks. */
const inPlace = { withinPortal: false };

type Props = Omit<SelectProps, 'data' | 'value' | 'onChange'> & {
  value: string | null;
  onChange: (customerId: string | null, name: string) => void;
  /** Name of the chosen customer, when the screen knows it already. */
  name?: string | undefined;
};

/** A customer, found on the server by part of the name or email. */
export function CustomerSelect({ value, onChange, name, ...input }: Props) {
  const [text, setText] = useState('');
  const [picked, setPicked] = useState<{ id: string; name: string }>();
  const known = name ?? (picked?.id === value ? picked?.name : undefined);
  const { can } = useAuth();
  const asked = useQuery({
    ...customerQuery(value ?? ''),
    enabled: can.viewCustomers && value !== null && known === undefined,
  });
  const chosenName =
    value === null
      ? undefined
      : (known ?? asked.data?.name ?? (asked.isError || !can.viewCustomers ? 'Unknown customer' : ''));
  const [settled] = useDebouncedValue(text === chosenName ? '' : text, settleAfter);
  const choices = useQuery({ ...customerChoicesQuery(settled), enabled: can.viewCustomers });
  const offered = (choices.data?.data ?? []).map((customer) => ({
    value: customer.customerId,
    label: customer.name,
  }));
  const chosen = value !== null && chosenName !== undefined && !offered.some((one) => one.value === value);

  return (
    <Select
      searchable
      placeholder="Select a customer"
      nothingFoundMessage={
        !can.viewCustomers
          ? 'You may not see customers'
          : choices.isError
            ? 'Failed to load customers'
            : choices.isPending
              ? 'Loading…'
              : 'No customer found'
      }
      rightSection={choices.isFetching && text !== '' ? <Loader size={12} /> : undefined}
      maxDropdownHeight={260}
      openOnFocus={false}
      comboboxProps={inPlace}
      {...input}
      data={chosen ? [{ value, label: chosenName }, ...offered] : offered}
      // The service has searched already, by email too.
      filter={({ options }) => options}
      value={value}
      searchValue={text}
      onSearchChange={setText}
      onFocus={(event) => event.currentTarget.select()}
      onChange={(id, option) => {
        if (id) setPicked({ id, name: option?.label ?? '' });
        onChange(id, option?.label ?? '');
      }}
    />
  );
}
