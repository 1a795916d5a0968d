import { hash } from 'node:crypto';

/** The SHA-256 of a machine's id in hex, which identifies the machine. */
export const machineHashOf = (machineId: string): string => hash('sha256', machineId, 'hex');
