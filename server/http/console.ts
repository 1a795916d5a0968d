import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { fail } from '../failure.ts';
import { root } from '../root.ts';
import { sendFailure } from './reply.ts';

const built = path.join(root, 'dist/web');

/** Serves the console: hashed files, cached for a year, and index.html for the URL of every screen. */
export async function serveConsole(app: FastifyInstance): Promise<void> {
  const isBuilt = existsSync(path.join(built, 'assets'));
  if (isBuilt) {
    await app.register(fastifyStatic, {
      root: built,
      wildcard: false,
      globIgnore: ['assets/**', '*.br', '*.gz'],
      index: false,
      preCompressed: true,
      setHeaders: (reply, file) =>
        void reply.header(
          'cache-control',
          file.includes(`${path.sep}assets${path.sep}`) ? 'public, max-age=31536000, immutable' : 'no-cache',
        ),
    });
    // One route for all of them: a route for each of 500 files took a fifth of a start.
    const assets = new Set(await readdir(path.join(built, 'assets')));
    app.get<{ Params: { name: string } }>('/assets/:name', ({ params: { name } }, reply) =>
      assets.has(name) ? reply.sendFile(`assets/${name}`) : reply.callNotFound(),
    );
  }
  // Browsers request it for JSON and CSV, where no page declares an icon.
  app.get('/favicon.ico', (_request, reply) => reply.redirect('/favicon.svg', 301));
  app.setNotFoundHandler((request, reply) => {
    const [pathname = ''] = request.url.split('?');
    // a dot makes a file of the first part only: the id of a machine may have some
    const isScreen =
      /^(GET|HEAD)$/.test(request.method) &&
      !/^\/(api(\/|$)|analytics\/|assets\/|docs\/|[^/]*\.)/i.test(pathname);
    if (isScreen && isBuilt) return reply.sendFile('index.html');
    return sendFailure(request, reply, fail('NOT_FOUND', 'There is nothing at this address.'));
  });
}
