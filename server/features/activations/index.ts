export {
  type ActivationRow,
  deactivateMachine,
  leaveSeat,
  listActivations,
  selfReleasesOn,
  toActivation,
  utcDayOf,
} from './activations.ts';
