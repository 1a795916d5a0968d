import type { ListedActivation } from '../../../contract/activations.ts';
import type { RowActionList } from '../../ui/row-actions.ts';

type Handlers = {
  onDeactivate: (activation: ListedActivation) => void;
  onReactivate: (activation: ListedActivation) => void;
  /** It is being reactivated. */
  isBusy: boolean;
  /** Why this user may do neither. */
  refusal: string | null;
};

/** Takes the seat of a machine, or gives it one again. */
export function activationActions(activation: ListedActivation, on: Handlers): RowActionList {
  const shared = { inRow: true, reason: on.refusal };
  if (activation.status === 'active')
    return [
      { ...shared, label: 'Deactivate', key: 'd', danger: true, run: () => on.onDeactivate(activation) },
    ];
  return [
    {
      ...shared,
      label: 'Reactivate',
      key: 'r',
      atOnce: true,
      busy: on.isBusy,
      run: () => on.onReactivate(activation),
    },
  ];
}
