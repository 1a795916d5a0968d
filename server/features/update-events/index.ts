export { type TrackedDownload, trackDownload } from './download-tracking.ts';
export { keepEvents } from './keep-events.ts';
export { machineHashOf, machineOf } from './machine-id.ts';
export { reportEvents } from './update-events.ts';
export { type UpdateRecorder, createUpdateRecorder } from './update-recorder.ts';
