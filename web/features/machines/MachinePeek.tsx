import { useQuery } from '@tanstack/react-query';
import type { MachineStanding } from '../../../contract/machine-standing.ts';
import { Loaded } from '../../LoadError.tsx';
import { FormSkeleton } from '../../ui/FormSkeleton.tsx';
import { CloneNotice } from './CloneNotice.tsx';
import { MachineFacts } from './MachineFacts.tsx';
import { machineOffersQuery, machineQuery } from './queries.ts';
import { Standing } from './Standing.tsx';
import { Timeline } from './Timeline.tsx';

/** A machine beside the list: why it runs or does not, what it reported, and what it did. */
export default function MachinePeek({ standing }: { standing: MachineStanding }) {
  const { displayId } = standing;
  const machine = useQuery(machineQuery(displayId));
  const offers = useQuery(machineOffersQuery(displayId));
  return (
    <>
      <Standing standing={standing} offers={offers} />
      <Loaded query={machine} title="Error loading machine">
        {machine.data ? (
          <>
            <CloneNotice activations={machine.data.activations} />
            <MachineFacts machine={machine.data.machine} standing={standing} />
          </>
        ) : (
          <FormSkeleton heights={[120]} />
        )}
      </Loaded>
      <Timeline machineId={displayId} />
    </>
  );
}
