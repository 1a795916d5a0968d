export { endOfflineSeats } from './end-seats.ts';
