import { Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { RecordLink } from '../../shell/RecordLink.tsx';
import { matching } from '../../ui/best-match.ts';
import { customerChoicesQuery } from './queries.ts';

const delay = 300;
/** Shorter texts are part of too many names, and longer ones no name. */
const [shortest, longest] = [3, 200];
const shown = 3;

/** The customers that are found by the name of a new one: a second record of the same hospital would split its licenses. */
export function SimilarCustomers({ name }: { name: string }) {
  const [settled] = useDebouncedValue(name.trim(), delay);
  const isName = settled.length >= shortest && settled.length <= longest;
  const { data } = useQuery({ ...customerChoicesQuery(settled), enabled: isName });
  const names = (data?.data ?? []).map((one) => ({ value: one.customerId, label: one.name }));
  // not those that are found by their email, nor by the text before
  const found = isName ? matching(names, settled) : [];
  return (
    <div role="status">
      {found.length > 0 && (
        <Text size="xs" c="dimmed" mt={4}>
          Already a customer:{' '}
          {found.slice(0, shown).map(({ value, label }, index) => (
            <span key={value}>
              {index > 0 && ', '}
              <RecordLink kind="customer" id={value} inherit>
                {label}
              </RecordLink>
            </span>
          ))}
          {found.length > shown && ` and ${found.length - shown} more`}
        </Text>
      )}
    </div>
  );
}
