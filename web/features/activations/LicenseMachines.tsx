import { useQuery } from '@tanstack/react-query';
import { Loaded } from '../../LoadError.tsx';
import { Card } from '../../ui/Card.tsx';
import { DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { activationColumns } from './activation-columns.tsx';
import classes from './ActivationsModal.module.css';
import { activationsQuery } from './queries.ts';

/** What fits beside a list. */
const briefColumns = activationColumns.filter(({ id }) => id !== 'activationType' && id !== 'createdAt');

/** The machines of a license, each linked to its page; `brief`: beside a list. */
export function LicenseMachines({ licenseKey, brief = false }: { licenseKey: string; brief?: boolean }) {
  const list = useQuery(activationsQuery(licenseKey));
  return (
    <Card title="Machines">
      <Loaded query={list} title="Error loading machines">
        <div className={`bounded ${classes.table}`}>
          <DataTable
            label="Machines of the license"
            columns={brief ? briefColumns : activationColumns}
            rows={list.data?.data}
            rowId={({ activationId }) => activationId}
            empty={<EmptyState title="No machines">No machine has validated this license yet.</EmptyState>}
          />
        </div>
      </Loaded>
    </Card>
  );
}
