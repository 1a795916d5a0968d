import { useQuery } from '@tanstack/react-query';
import { Loaded } from '../../LoadError.tsx';
import { Card } from '../../ui/Card.tsx';
import { DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { activationColumns } from './activation-columns.tsx';
import classes from './ActivationsModal.module.css';
import { activationsQuery } from './queries.ts';

/** The machines of a license, each linked to its page. */
export function LicenseMachines({ licenseKey }: { licenseKey: string }) {
  const list = useQuery(activationsQuery(licenseKey));
  return (
    <Card title="Machines">
      <Loaded query={list} title="Error loading machines">
        <div className={`bounded ${classes.table}`}>
          <DataTable
            label="Machines of the license"
            columns={activationColumns}
            rows={list.data?.data}
            rowId={({ activationId }) => activationId}
            empty={<EmptyState title="No machines">No machine has validated this license yet.</EmptyState>}
          />
        </div>
      </Loaded>
    </Card>
  );
}
