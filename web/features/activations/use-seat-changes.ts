import { useQueryClient } from '@tanstack/react-query';
import type { Activation } from '../../../contract/activations.ts';
import { ApiError, refusalOf } from '../../api-error.ts';
import { refresh } from '../../ui/refresh.ts';
import { toast } from '../../ui/toast.tsx';
import { useChange } from '../../use-change.ts';
import { activationsQuery, reactivateMachine } from './queries.ts';
import { aboutSeat } from '../../toast-subjects.ts';

/** Updates the list immediately from the response, and also refetches it. */
export function useShowChange() {
  const queryClient = useQueryClient();
  return (licenseKey: string, changed: Pick<Activation, 'activationId'> & Partial<Activation>) =>
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

/** A machine on a license. */
type Seat = { licenseKey: string; machineId: string };

/** Gives a machine its seat back. */
export function useReactivate(onFailure?: (error: Error, seat: Seat) => void) {
  const show = useShowChange();
  const queryClient = useQueryClient();
  return useChange({
    mutationFn: ({ licenseKey, machineId }: Seat) => reactivateMachine(licenseKey, machineId),
    onSuccess: ({ activation, machineId }, { licenseKey }) => {
      if (activation) show(licenseKey, activation);
      void toast({ message: `Machine ${machineId} reactivated`, subject: aboutSeat(licenseKey, machineId) });
    },
    onError: (error, seat) => {
      onFailure?.(error, seat);
      // A refusal means that the list is out of date, or that another machine took the seat first. It is told at once.
      if (!(error instanceof ApiError)) void refresh(queryClient);
    },
  });
}

/** For where no list of the license is open to say it. */
export const tellNotReactivated = (error: Error, { licenseKey, machineId }: Seat): void =>
  void toast({
    message: refusalOf(`Machine ${machineId} was not reactivated`, error),
    subject: aboutSeat(licenseKey, machineId),
    tone: 'red',
  });
