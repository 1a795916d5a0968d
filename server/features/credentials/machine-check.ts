import { LRUCache } from 'lru-cache';
import { hourMs } from '../../../contract/durations.ts';
import type { Route } from '../../../contract/route.ts';
import { atMost } from '../../at-most.ts';
import { isSecretOf, readBearerKey } from '../../bearer-keys.ts';
import type { Budget, Budgets } from '../../budgets.ts';
import type { EnrolledMachine } from '../../caller.ts';
import type { Context } from '../../context.ts';
import { fail, type Failure } from '../../failure.ts';
import { isLicensed, type EnrolledSeat, type SeatFinder } from '../validation/index.ts';

type Parts = Pick<Context, 'clock' | 'config'> & {
  seats: Pick<SeatFinder, 'findByToken'>;
  budgets: Pick<Budgets, 'refusals'>;
};
/**
 * The machine with the remaining requests of its hour, or why its token is refused. `isUnknown`: somebody may be guessing,
 * or using a token that was replaced.
 */
type Checked =
  | { machine: EnrolledMachine | Failure; budget?: Budget; isUnknown?: undefined }
  | { machine: Failure; budget?: undefined; isUnknown: true };

export type MachineCheck = ReturnType<typeof createMachineCheck>;

/**
 * Authenticates machines by token: checks secret, seat, license and customer, and the hourly limit of the machine, which
 * each process counts in memory.
 */
export function createMachineCheck({ seats, budgets, clock, config }: Parts) {
  /** How many requests each machine made in the hour `countedHour`, by activation. */
  const requestsOf = new LRUCache<string, number>(atMost(100_000));
  let countedHour = 0;

  function take(activationId: string): Budget & { resetSeconds: number } {
    const now = clock().getTime();
    const hour = Math.floor(now / hourMs);
    if (hour !== countedHour) requestsOf.clear();
    countedHour = hour;
    const requests = (requestsOf.get(activationId) ?? 0) + 1;
    requestsOf.set(activationId, requests);
    const limit = config.machineRequestsPerHour;
    return {
      allowed: requests <= limit,
      limit,
      remaining: Math.max(0, limit - requests),
      resetSeconds: Math.ceil(((hour + 1) * hourMs - now) / 1000),
    };
  }

  return async (
    presented: string,
    { access, evenUnlicensed }: Pick<Route, 'access' | 'evenUnlicensed'>,
  ): Promise<Checked> => {
    const { id, secret } = readBearerKey('lym', presented);
    const seat = id === undefined ? undefined : await seats.findByToken(id);
    if (!isSecretOf(seat && Buffer.from(seat.secret_hash, 'hex'), secret) || !seat)
      return { machine: unknown, isUnknown: true };
    const forUpdates =
      access.kind === 'staff' && access.apiKey === 'updates' && config.updatesAfterRevocation;
    const ended = evenUnlicensed ? undefined : endedBecause(seat, forUpdates);
    if (ended) return { machine: fail('UNAUTHENTICATED', ended) };
    const budget = take(seat.activation_id);
    if (budget.allowed) return { machine: toMachine(seat), budget };
    budgets.refusals.requests++;
    const message = `The machine has used its ${budget.limit} requests of this hour.`;
    return { machine: fail('TOO_MANY_REQUESTS', message, { retryAfter: budget.resetSeconds }), budget };
  };
}

const unknown = fail(
  'UNAUTHENTICATED',
  'The machine token is not known: it was replaced, or the machine gave up its seat. Enroll the machine again.',
);

/** Why a token does not count for now; undefined if it does. `forUpdates`: also of a license that is not active. */
function endedBecause(seat: EnrolledSeat, forUpdates: boolean): string | undefined {
  if (seat.customer_deleted_at) return 'The customer of this machine has been deleted.';
  if (forUpdates) return undefined;
  if (seat.customer_status === 'inactive') return 'The customer of this machine is not active.';
  return seat.status === 'revoked' ? 'The license of this machine has been revoked.' : undefined;
}

const toMachine = (seat: EnrolledSeat): EnrolledMachine => ({
  kind: 'machine',
  activationId: seat.activation_id,
  licenseId: seat.license_id,
  licenseKey: seat.license_key,
  customerId: seat.customer_id,
  isLicensed: isLicensed(seat),
  machineId: seat.machine_id,
  machineHash: seat.machine_hash,
  scopes,
});
const scopes: EnrolledMachine['scopes'] = ['validate', 'updates'];
