import { useQuery } from '@tanstack/react-query';
import type { MachineStanding } from '../../../contract/machine-standing.ts';
import { LoadedForm } from '../../LoadedForm.tsx';
import { CloneNotice } from './CloneNotice.tsx';
import { MachineFacts } from './MachineFacts.tsx';
import { machineOffersQuery, machineQuery } from './queries.ts';
import { Standing } from './Standing.tsx';
import { Timeline } from './Timeline.tsx';

/** A machine beside the list: why it runs or does not, what it reported, and what it did. */
export default function MachinePeek({ standing }: { standing: MachineStanding }) {
  const { displayId } = standing;
  const found = useQuery(machineQuery(displayId));
  const offers = useQuery(machineOffersQuery(displayId));
  return (
    <>
      <Standing standing={standing} offers={offers} />
      <LoadedForm query={found} title="Error loading machine" heights={[120]}>
        {({ activations, machine }) => (
          <>
            <CloneNotice activations={activations} />
            <MachineFacts machine={machine} standing={standing} />
          </>
        )}
      </LoadedForm>
      <Timeline machineId={displayId} />
    </>
  );
}
