import { withClient } from '../../../server/db/with-client.ts';
import { validations } from '../licensing.ts';
import type { Peer } from './peer.ts';

/** Their keys, without limits; each verification writes when the key was last used. */
const server = `
  import { apiKey } from '@better-auth/api-key';
  import { betterAuth } from 'better-auth';
  import { getMigrations } from 'better-auth/db/migration';
  import { createServer } from 'node:http';
  import pg from 'pg';
  const database = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 12 });
  const auth = betterAuth({
    database,
    secret: 'secret of the bench, of 32 characters',
    baseURL: 'http://127.0.0.1',
    telemetry: { enabled: false },
    emailAndPassword: { enabled: true },
    rateLimit: { enabled: false },
    plugins: [apiKey({ rateLimit: { enabled: false } })],
  });
  await (await getMigrations(auth.options)).runMigrations();
  const person = { name: 'Bench', email: 'bench@example.org', password: 'bench password' };
  const { user } = await auth.api.signUpEmail({ body: person });
  await database.query('create table keys_of_bench (key text)');
  for (let n = 0; n < 200; n++) {
    const { key } = await auth.api.createApiKey({ body: { name: 'bench', userId: user.id } });
    await database.query('insert into keys_of_bench values ($1)', [key]);
  }
  createServer(async (request, response) => {
    const { valid } = await auth.api.verifyApiKey({ body: { key: request.headers['x-api-key'] } });
    response.writeHead(valid ? 200 : 401, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ valid }));
  }).listen(Number(process.env.PORT), '127.0.0.1', () => console.log('ready'));
`;

/** Verifying a key; ours also decides on the license, records it and signs the answer. */
export const betterAuth: Peer = {
  packages: ['better-auth', '@better-auth/api-key', 'pg'],
  async bench({ stage, databaseUrl, start, compare }) {
    const url = await start(server, { DATABASE_URL: databaseUrl });
    const keys = await withClient(databaseUrl, async (client) => {
      const { rows } = await client.query<{ key: string }>('select key from keys_of_bench');
      return rows.map((row) => row.key);
    });
    const { sample, bare } = stage;
    return [
      await compare('validate a license, beside verifying a key', {
        ours: validations(stage).byApiKey,
        theirs: { url, next: (n) => ({ headers: { 'x-api-key': keys[n % keys.length]! } }) },
        bare: { url: bare, next: (n) => ({ path: `/row?key=${sample[n % sample.length]!.licenseKey}` }) },
      }),
    ];
  },
};
