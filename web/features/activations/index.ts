export { ActivationsModal } from './lazy.ts';
export { SeatUsage } from './SeatUsage.tsx';
