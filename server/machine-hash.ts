import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';

/** The SHA-256 of a machine's id in hex, which identifies the machine. */
export const machineHashOf = (machineId: string): string => hash('sha256', machineId, 'hex');

/** The machine id in a header, which Node reads as Latin-1: Electron sends UTF-8, other programs Latin-1. */
export function machineIdIn(header: string): string {
  const bytes = Buffer.from(header, 'latin1');
  return (isUtf8(bytes) ? bytes.toString() : header).trim();
}
