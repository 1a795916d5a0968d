import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { isDatabaseResponding } from '../db/readiness.ts';
import { fail } from '../failure.ts';
import { storageUnavailable } from '../storage/storage.ts';
import type { StorageWatch } from '../storage/watch.ts';
import type { Drain } from './drain.ts';
import { databaseUnavailable, sendFailure } from './reply.ts';

const stopping = fail('UNAVAILABLE', 'This process is stopping.', { retryAfter: 1 });

/**
 * `/healthz`: the process runs. `/readyz`: it can serve licensing and the console, which needs the database. The state
 * of the storage is reported, and required only with `?require=storage`.
 */
export function serveHealth(
  app: FastifyInstance,
  context: Context,
  { storage, drain }: { storage: StorageWatch; drain: Drain },
): void {
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get<{ Querystring: { require?: string } }>('/readyz', async (request, reply) => {
    if (drain.isDraining()) return sendFailure(request, reply, stopping);
    if (!(await isDatabaseResponding(context))) return sendFailure(request, reply, databaseUnavailable);
    const isRequired = request.query.require === 'storage';
    const isUsable = await (isRequired ? storage.look() : storage.isUsable());
    if (isRequired && !isUsable) return sendFailure(request, reply, storageUnavailable);
    const unusable = storage.whyForeign() === undefined ? 'unavailable' : 'foreign';
    return { status: 'ready', storage: isUsable ? 'ok' : unusable };
  });
}
