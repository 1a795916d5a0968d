export { clearFirstSeen, keepValidations } from './day-counts.ts';
export { clearRefusals } from './license-refusals.ts';
export { clearMachineRefusals } from './note-machines.ts';
export { endMachineTimesAhead, endRefusalTimesAhead } from './times-ahead.ts';
export { type EnrolledSeat, type SeatFinder, isLicensed } from './find.ts';
export { takeSeat } from './take-seat.ts';
export { type Validator, validate } from './validation.ts';
