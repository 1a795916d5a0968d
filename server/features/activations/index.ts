export {
  type ActivationRow,
  deactivateMachine,
  freeEndedSeats,
  leaveSeat,
  listActivations,
  selfReleaseDay,
  selfReleasesOn,
  toActivation,
  toIdentity,
} from './activations.ts';
