import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fail } from '../failure.ts';
import { sendFailure } from './reply.ts';

/** The built console; this file runs from dist/server/http, its tests from server/http. */
const built = ['../../web', '../../dist/web'].map((folder) => path.join(import.meta.dirname, folder));

/** Serves the console: hashed files, cached for a year, and index.html for the URL of every screen. */
export async function serveConsole(app: FastifyInstance): Promise<void> {
  const root = built.find((folder) => existsSync(path.join(folder, 'assets')));
  if (root) {
    await app.register(fastifyStatic, {
      root,
      wildcard: false,
      index: false,
      preCompressed: true,
      setHeaders: (reply, file) =>
        void reply.header(
          'cache-control',
          file.includes(`${path.sep}assets${path.sep}`) ? 'public, max-age=31536000, immutable' : 'no-cache',
        ),
    });
  }
  // Browsers request it for JSON and CSV, where no page declares an icon.
  app.get('/favicon.ico', (_request, reply) => reply.redirect('/favicon.svg', 301));
  app.setNotFoundHandler((request, reply) => {
    const [pathname = ''] = request.url.split('?');
    const isScreen =
      request.method === 'GET' &&
      !/^\/(api(\/|$)|analytics\/|assets\/|docs\/)/.test(pathname) &&
      !pathname.includes('.');
    if (isScreen && root) return reply.sendFile('index.html');
    return sendFailure(request, reply, fail('NOT_FOUND', 'There is nothing at this address.'));
  });
}
