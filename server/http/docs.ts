import fastifySwaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { contract } from '../../contract/index.ts';
import { compressedText } from './compression.ts';
import type { Guard } from './diagnostics.ts';
import { openApi } from './openapi.ts';

/** Built when somebody asks for it, since few processes are asked and it takes 0.1 s. */
const describedAs = new Map<string, ReturnType<typeof openApi>>();

/** Serves the description of all calls, as OpenAPI and as pages, for the callers that `guard` allows. */
export async function serveDocs(
  app: FastifyInstance,
  version: string,
  sessionCookie: string,
  guard: Guard,
): Promise<void> {
  const key = `${version} ${sessionCookie}`;
  const describe = () => {
    const document = describedAs.get(key) ?? openApi(contract, version, sessionCookie);
    describedAs.set(key, document);
    return document;
  };
  // the pages take the description from a plugin of this name, and as YAML too, of which JSON is a part
  const description = fastifyPlugin(
    async (docs) => {
      docs.decorate('swagger', (form?: { yaml: boolean }) =>
        form?.yaml ? JSON.stringify(describe()) : describe(),
      );
    },
    { name: '@fastify/swagger' },
  );
  await app.register(async (docs) => {
    docs.addHook('onRequest', guard);
    docs.get('/openapi.json', async (request, reply) =>
      reply
        .type('application/json; charset=utf-8')
        .send(await compressedText(request, reply, JSON.stringify(describe()))),
    );
    await docs.register(description);
    await docs.register(fastifySwaggerUi, { routePrefix: '/docs' });
  });
}
