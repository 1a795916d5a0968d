import { useQuery } from '@tanstack/react-query';
import type { RouteAnswer } from '../../../contract/route.ts';
import { validationMessages, type validation } from '../../../contract/validation.ts';
import { Loaded } from '../../LoadError.tsx';
import { resultText } from '../../refusal-reasons.ts';
import { Card } from '../../ui/Card.tsx';
import { countColumn, type Column } from '../../ui/data-table.ts';
import { DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { licenseValidationsQuery } from './queries.ts';

type Result = RouteAnswer<typeof validation.ofLicense>[number];

const columns: Column<Result>[] = [
  {
    id: 'code',
    header: 'Result',
    width: 210,
    cell: ({ code }) => (
      <StatusBadge tone={code === 'VALID' ? 'teal' : 'red'}>{resultText(code)}</StatusBadge>
    ),
  },
  { id: 'message', header: 'Meaning', least: 150, cell: ({ code }) => validationMessages[code] },
  countColumn('machines', 'Machines', 120),
  countColumn('count', 'Validations', 120),
];

/** What validations of the license answered in the last 30 days. */
export function LicenseValidations({ licenseId }: { licenseId: string }) {
  const results = useQuery(licenseValidationsQuery(licenseId));
  return (
    <Card title="Validations of the Last 30 Days">
      <Loaded query={results} title="Error loading validations">
        <DataTable
          label="Validations by result"
          columns={columns}
          rows={results.data}
          rowId={({ code }) => code}
          empty={<EmptyState title="No validations">No machine has validated it in 30 days.</EmptyState>}
        />
      </Loaded>
    </Card>
  );
}
