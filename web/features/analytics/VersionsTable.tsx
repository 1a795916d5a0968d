import { Skeleton, Table } from '@mantine/core';
import type { CustomerUse } from '../../../contract/analytics.ts';
import { EmptyState } from '../../ui/states.tsx';
import { versionsByCustomer } from './series.ts';
import classes from './analytics.module.css';

/** Which versions run where: machines of the top customers by version. */
export function VersionsTable({ versions }: { versions: CustomerUse['versions'] | undefined }) {
  if (!versions) return <Skeleton height={220} radius={8} />;
  const { names, rows } = versionsByCustomer(versions);
  return (
    <section className={classes.card} aria-label="Versions in the Field">
      <h2 className={classes.title}>Versions in the Field</h2>
      {rows.length === 0 ? (
        <EmptyState title="No versions yet">Machines say their version when they validate.</EmptyState>
      ) : (
        <Table.ScrollContainer minWidth={420} type="native">
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Customer</Table.Th>
                {names.map((name) => (
                  <Table.Th key={name} ta="right">
                    {name}
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map(([company, ...machines]) => (
                <Table.Tr key={company}>
                  <Table.Th scope="row" fw={400}>
                    {company}
                  </Table.Th>
                  {machines.map((count, index) => (
                    <Table.Td key={names[index]} ta="right">
                      {count === 0 ? '–' : count.toLocaleString('en')}
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </section>
  );
}
