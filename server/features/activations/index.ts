export {
  type ActivationRow,
  deactivateMachine,
  leaveSeat,
  listActivations,
  selfReleasesOn,
  toActivation,
  toIdentity,
  utcDayOf,
} from './activations.ts';
