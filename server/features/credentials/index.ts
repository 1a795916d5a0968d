export { type MachineCheck, createMachineCheck } from './machine-check.ts';
export { refuseOthers } from './refuse-others.ts';
