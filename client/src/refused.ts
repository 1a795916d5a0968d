import { messages } from './messages.ts';
import type { Refused } from './types.ts';

export function refused(code: string, message: string, problem?: string): Refused {
  return { ok: false, code, message, ...(problem === undefined ? {} : { problem }) };
}

export const noKey = (problem: string): Refused =>
  refused('NO_MACHINE_KEY', messages.NO_MACHINE_KEY, problem);
