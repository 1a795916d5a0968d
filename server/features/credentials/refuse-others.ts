import type { FastifyRequest } from 'fastify';
import type { Actor } from '../../caller.ts';
import { fail, type Failure } from '../../failure.ts';
import { machineIdIn } from '../../machine-hash.ts';
import { parseLicenseKey } from '../licenses/index.ts';

type NamingBody = { machineId?: string; licenseKey?: string; events?: { machineId?: string }[] };

/**
 * Why a machine may not make a call: it names another machine or license, in any place where a call can name one.
 * `body` is already parsed. An empty id in a header or an address counts as none, as it does for feeds.
 */
export function refuseOthers(actor: Actor, request: FastifyRequest, body: unknown): Failure | undefined {
  if (actor.kind !== 'machine') return undefined;
  const { machineId, licenseKey, events = [] } = (body ?? {}) as NamingBody;
  const { query, headers } = request as { query: Record<string, unknown>; headers: Record<string, unknown> };
  const inHeader = idsIn(headers['x-machine-id']).map(machineIdIn);
  const named = [machineId, ...events.map((event) => event.machineId), ...inHeader];
  // Squirrel.Windows retries a failed request with its URL in lower case
  const inAddress = [query.machineId, query.machineid].flatMap(idsIn).map((id) => id.toLowerCase());
  if (
    named.some((id) => id !== undefined && id !== actor.machineId) ||
    inAddress.some((id) => id !== actor.machineId.toLowerCase())
  )
    return fail('FORBIDDEN', 'This machine token is for another machine than the one that the call names.');
  if (licenseKey !== undefined && parseLicenseKey(licenseKey) !== actor.licenseKey)
    return fail('FORBIDDEN', 'This machine token is for another license than the one that the call names.');
  return undefined;
}

const idsIn = (value: unknown): string[] =>
  [value].flat().flatMap((id) => (typeof id === 'string' && id.trim() !== '' ? [id.trim()] : []));
