export { failureComparison } from './failure-comparison.ts';
export { guardState, watchRollouts } from './failure-guard.ts';
export { rotateEvents } from './rotate-events.ts';
export { asWritten, displayIdOf, machineOf } from './machine-id.ts';
export { makeRecords } from './make-records.ts';
export type { DownloadStep } from './update-event.ts';
export { reportEvents } from './update-events.ts';
export { type UpdateRecorder, createUpdateRecorder } from './update-recorder.ts';
