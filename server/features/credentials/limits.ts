import type { BudgetOf, Budgets } from '../../budgets.ts';
import type { Caller } from '../../caller.ts';
import { tooMany, type Failure } from '../../failure.ts';

type LimitedLicense = { licenseId: string; licenseKey: string; seats: number };

/**
 * For machines that hold a seat already, or did until their license file ended: `perHour`, or the number of seats if that
 * is larger.
 */
export const enrollmentsOf = ({ licenseId, seats }: LimitedLicense, perHour: number): BudgetOf => ({
  budget: 'enrollments',
  subject: licenseId,
  limit: Math.max(perHour, seats),
});

/** For other machines: half of the seats, so that a stranger who knows the key cannot take all in a loop. */
export const newMachinesOf = ({ licenseId, seats }: LimitedLicense): BudgetOf => ({
  budget: 'new machines',
  subject: licenseId,
  limit: Math.max(3, Math.ceil(seats / 2)),
});

/** For enrollments that are refused, which use up none of the others. */
export const refusalsOf = (license: LimitedLicense, perHour: number): BudgetOf => ({
  ...enrollmentsOf(license, perHour * 10),
  budget: 'refused enrollments',
});

const messages: Partial<Record<BudgetOf['budget'], (limit: number) => string>> = {
  enrollments: (limit) =>
    `Machines have enrolled ${limit} times on this license in this hour, which is the limit.`,
  'new machines': (limit) =>
    `${limit} new machines have enrolled on this license in this hour, which is the limit.`,
  'refused enrollments': (limit) => `${limit} enrollments on this license were refused in this hour.`,
};

/** Takes a unit from a budget of the license, or returns the refusal. Staff are told once per hour and budget. */
export async function takeFromBudget(
  budgets: Budgets,
  by: Caller,
  license: LimitedLicense,
  of: BudgetOf,
): Promise<Failure | undefined> {
  const { allowed, resetSeconds } = await budgets.take(of);
  if (allowed) return undefined;
  const message = messages[of.budget]?.(of.limit) ?? '';
  await budgets.tellOnce(by, of, ({ audit }) =>
    audit('license.enrollment_limit_reached', license, {
      what: `reached its limit of ${of.limit} ${of.budget} an hour`,
      error: message,
    }),
  );
  return tooMany(message, resetSeconds);
}
