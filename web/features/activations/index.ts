export { activationsQuery } from './queries.ts';
export { LicenseMachines } from './LicenseMachines.tsx';
export { Identity } from './Identity.tsx';
export { activationBadges, ActivationStatus } from './activation-columns.tsx';
export { OfflineBadge } from './OfflineBadge.tsx';
export { ActivationsModal, LazyDeactivate } from './lazy.ts';
export { activationActions } from './activation-actions.ts';
export { tellNotReactivated, useReactivate } from './use-seat-changes.ts';
export { SeatUsage } from './SeatUsage.tsx';
