import { useQueryClient } from '@tanstack/react-query';
import type { Activation } from '../../../contract/activations.ts';
import { toast } from '../../ui/toast.tsx';
import { useChange } from '../../use-change.ts';
import { activationsQuery, reactivateMachine } from './queries.ts';
import { aboutSeat } from '../../toast-subjects.ts';

/** Updates the list immediately from the response, and also refetches it. */
export function useShowChange(licenseKey: string) {
  const queryClient = useQueryClient();
  return (changed: Pick<Activation, 'activationId'> & Partial<Activation>) =>
    queryClient.setQueryData(
      activationsQuery(licenseKey).queryKey,
      (list) =>
        list && {
          ...list,
          data: list.data.map((row) =>
            row.activationId === changed.activationId ? { ...row, ...changed } : row,
          ),
        },
    );
}

/** Gives a machine its seat back. */
export function useReactivate(licenseKey: string, onFailure?: (error: Error) => void) {
  const show = useShowChange(licenseKey);
  const queryClient = useQueryClient();
  return useChange({
    mutationFn: (machineId: string) => reactivateMachine(licenseKey, machineId),
    onSuccess: ({ activation, machineId }) => {
      if (activation) show(activation);
      void toast({ message: `Machine ${machineId} reactivated`, subject: aboutSeat(licenseKey, machineId) });
    },
    // A refusal means that the list is out of date, or that another machine took the seat first.
    onError: (error) => {
      onFailure?.(error);
      return queryClient.invalidateQueries();
    },
  });
}
