import { messageOf } from './api-error.ts';
import { useWhenAsked } from './approval-store.ts';
import { toast, type Toast } from './ui/toast.tsx';
import { useChange } from './use-change.ts';

/**
 * The props of a confirmation dialog that makes one change. Afterwards it closes and shows a toast; if the change
 * fails, it stays open and shows the problem. `Input`: the reason, in a `ReasonDialog`.
 */
export function useConfirmedChange<Data, Input = void>(props: {
  change: (input: Input) => Promise<Data>;
  done: (data: Data) => Toast;
  problemOf?: (error: Error) => string;
  onClose: () => void;
}) {
  const { change, done, problemOf = messageOf, onClose } = props;
  const confirmed = useChange({
    mutationFn: change,
    onSuccess: (data) => {
      onClose();
      void toast(done(data));
    },
  });
  useWhenAsked(confirmed.error, onClose);
  return {
    busy: confirmed.isPending,
    failure: confirmed.error,
    error: confirmed.error ? problemOf(confirmed.error) : undefined,
    onConfirm: (input: Input) => confirmed.mutate(input),
    onClose,
  };
}
