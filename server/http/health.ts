import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { doCallsGetAnswers } from '../db/readiness.ts';
import { storageUnavailable } from '../storage/storage.ts';
import type { StorageWatch } from '../storage/watch.ts';
import { databaseUnavailable, sendFailure } from './reply.ts';

/**
 * `/healthz`: the process runs. `/readyz`: it can serve licensing and the console, for which it needs the database.
 * Storage is mentioned; only `?require=storage` makes it a condition.
 */
export function serveHealth(app: FastifyInstance, context: Context, storage: StorageWatch): void {
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get<{ Querystring: { require?: string } }>('/readyz', async (request, reply) => {
    if (!(await doCallsGetAnswers(context))) return sendFailure(request, reply, databaseUnavailable);
    const isRequired = request.query.require === 'storage';
    const isUsable = await (isRequired ? storage.look() : storage.isUsable());
    if (isRequired && !isUsable) return sendFailure(request, reply, storageUnavailable);
    return { status: 'ready', storage: isUsable ? 'ok' : 'unavailable' };
  });
}
