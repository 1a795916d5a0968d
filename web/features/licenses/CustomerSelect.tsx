import { Loader } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState, type ComponentProps } from 'react';
import { useAuth } from '../../session.tsx';
import { bestFirst } from '../../ui/best-match.ts';
import { SearchSelect } from '../../ui/SearchSelect.tsx';
import { customerChoicesQuery, customerQuery } from '../customers/index.ts';
import { distinct } from './distinct-customers.ts';

const delay = 200;

type Props = Omit<ComponentProps<typeof SearchSelect>, 'data' | 'nothingFound'> & {
  /** Name of the selected customer, when the screen has it already. */
  name?: string | undefined;
  /** Loads the choices when the field is first reached: for a filter that most visits never use. */
  loadsLate?: boolean;
};

/** A customer select that searches on the server by part of the name or email. */
export function CustomerSelect({ value, onChange, name, loadsLate = false, ...input }: Props) {
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
  const [settled] = useDebouncedValue(text, delay);
  const [wanted, setWanted] = useState(!loadsLate);
  const choices = useQuery({ ...customerChoicesQuery(settled), enabled: can.viewCustomers && wanted });
  const offered = distinct(choices.data?.data ?? []);
  const isChosenMissing =
    text === '' && value !== null && chosenName !== undefined && !offered.some((one) => one.value === value);
  const isOutdated =
    text !== settled || (!choices.isError && (choices.isPending || choices.isPlaceholderData));

  return (
    <SearchSelect
      placeholder="Select a customer"
      rightSection={choices.isFetching && text !== '' ? <Loader size={12} /> : undefined}
      {...input}
      nothingFound={
        !can.viewCustomers
          ? 'You may not see customers'
          : choices.isError
            ? 'Failed to load customers'
            : choices.isPending
              ? 'Loading…'
              : 'No customer found'
      }
      data={isChosenMissing ? [{ value, label: chosenName }, ...offered] : offered}
      // The service has already filtered, by email as well.
      match={bestFirst}
      isSearching={can.viewCustomers && isOutdated}
      onSearch={setText}
      onFocus={(event) => {
        setWanted(true);
        input.onFocus?.(event);
      }}
      onPointerEnter={() => setWanted(true)}
      value={value}
      chosenLabel={chosenName}
      onChange={(id, label) => {
        if (id) setPicked({ id, name: label });
        onChange(id, label);
      }}
    />
  );
}
