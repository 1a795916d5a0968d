export { endFileTimesAhead, endOfflineSeats } from './end-seats.ts';
export { heldLicenseFile } from './held-file.ts';
