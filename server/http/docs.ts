import fastifySwagger from '@fastify/swagger';
import fastifySwaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { contract } from '../../contract/index.ts';
import { compressedText } from './compression.ts';
import type { Guard } from './diagnostics.ts';
import { openApi } from './openapi.ts';

/** Built once per process, since it takes 0.1 s and depends only on the version and the name of the cookie. */
const describedAs = new Map<string, ReturnType<typeof openApi>>();

/** Serves the description of all calls, as OpenAPI and as pages, for the callers that `guard` allows. */
export async function serveDocs(
  app: FastifyInstance,
  version: string,
  sessionCookie: string,
  guard: Guard,
): Promise<void> {
  const key = `${version} ${sessionCookie}`;
  const document = describedAs.get(key) ?? openApi(contract, version, sessionCookie);
  describedAs.set(key, document);
  await app.register(async (docs) => {
    docs.addHook('onRequest', guard);
    const text = JSON.stringify(document);
    docs.get('/openapi.json', async (request, reply) =>
      reply.type('application/json; charset=utf-8').send(await compressedText(request, reply, text)),
    );
    await docs.register(fastifySwagger, { mode: 'static', specification: { document: document as never } });
    await docs.register(fastifySwaggerUi, { routePrefix: '/docs' });
  });
}
