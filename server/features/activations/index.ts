export {
  type ActivationRow,
  deactivateMachine,
  freeEndedSeats,
  leaveSeat,
  listActivations,
  selfReleasesOn,
  toActivation,
  toIdentity,
  utcDayOf,
} from './activations.ts';
