import type { Budgets } from '../../server/budgets.ts';
import type { Caller } from '../../server/caller.ts';
import { runChange, type Change, type ChangeParts } from '../../server/change.ts';
import { isFailure, type Failure } from '../../server/failure.ts';
import type { Validator } from '../../server/features/validation/index.ts';
import type { Random } from './random.ts';

export type Stage = ChangeParts & {
  validator: Validator;
  budgets: Budgets;
  random: Random;
  now: Date;
  passwordHash: string;
};

/** Demo data is created by production functions: a refused call is a bug of the demo. */
export async function done<T>(result: Promise<T | Failure>): Promise<T> {
  const value = await result;
  if (isFailure(value)) throw new Error(value.message);
  return value;
}

export const made = <T>(parts: ChangeParts, by: Caller, work: (change: Change) => Promise<T | Failure>) =>
  done(runChange(parts, by, work));

/** The same caller at another time, in milliseconds since 1970. */
export const at = <C extends Caller>(by: C, moment: number): C => ({ ...by, now: new Date(moment) });
