export { activationsQuery } from './queries.ts';
export { LicenseMachines } from './LicenseMachines.tsx';
export { Identity } from './Identity.tsx';
export { activationBadges, ActivationStatus } from './activation-columns.tsx';
export { OfflineBadge } from './OfflineBadge.tsx';
export { ActivationsModal } from './lazy.ts';
export { SeatUsage } from './SeatUsage.tsx';
