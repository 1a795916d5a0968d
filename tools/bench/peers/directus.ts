import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { withClient } from '../../../server/db/with-client.ts';
import { searches } from '../licensing.ts';
import type { Target } from '../load.ts';
import { dataOf } from '../stage.ts';
import type { Peer, Place } from './peer.ts';

const token = 'token-of-the-bench-of-32-characters';
const cli = 'node_modules/directus/cli.js';

const server = `
  process.argv = [process.argv[0], 'directus', 'start'];
  await import('./${cli}');
  const isUp = () => fetch('http://127.0.0.1:' + process.env.PORT + '/server/ping').then(({ ok }) => ok, () => false);
  while (!(await isUp())) await new Promise((resolve) => setTimeout(resolve, 200));
  console.log('ready');
`;

const key = { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } };
const fields = [key, ...['name', 'email', 'country'].map((field) => ({ field, type: 'string' }))];
const customers = { collection: 'customers', schema: {}, meta: { accountability: 'all' }, fields };

/** Lists with a count, the search, and a record with an entry of who made it. */
export const directus: Peer = {
  packages: ['directus'],
  async bench(place) {
    const { stage, compare } = place;
    const url = await startOnTable(place);
    const theirs = (query: (n: number) => string): Target => ({
      url,
      headers: { authorization: `Bearer ${token}` },
      next: (n) => ({ path: `/items/customers?limit=50&meta=filter_count&${query(n)}` }),
    });
    const { ours, bare, staff: headers } = stage;
    const list = (query: (n: number) => string): Target => ({
      url: ours,
      headers,
      next: (n) => ({ path: `/api/v1/licenses?limit=50${query(n)}` }),
    });
    const body = (n: number) => ({ body: { name: `Bench ${n}`, country: 'DE' } });
    const rows = { url: `${bare}/rows` };
    return [
      await compare(`list 50 of ${place.records} with the count`, {
        ours: list(() => ''),
        theirs: theirs(() => 'sort=name'),
        bare: rows,
      }),
      await compare(`search in ${place.records}, first page with the count`, {
        ours: list((n) => `&search=${searches(n)}`),
        theirs: theirs((n) => `search=${searches(n)}`),
        bare: rows,
      }),
      await compare('create a record, with who did it', {
        ours: { url: `${ours}/api/customers`, method: 'POST', headers, next: body },
        theirs: { ...theirs(String), url: `${url}/items/customers`, method: 'POST', next: body },
        bare: { url: `${bare}/insert`, method: 'POST' },
      }),
    ];
  },
};

async function startOnTable({ home, databaseUrl, records, start }: Place): Promise<string> {
  // only for scripts and extensions, which the bench has none of, and without a binary for every version of Node
  await writeFile(path.join(home, 'node_modules/isolated-vm/isolated-vm.js'), 'module.exports = {};\n');
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const settings = `
    DB_CLIENT=pg DB_HOST=${hostname} DB_PORT=${port} DB_USER=${username} DB_PASSWORD=${password}
    DB_DATABASE=${pathname.slice(1)} SECRET=${token} ADMIN_TOKEN=${token} ADMIN_EMAIL=bench@example.org
    ADMIN_PASSWORD=${token} HOST=127.0.0.1 LOG_LEVEL=error PRESSURE_LIMITER_ENABLED=false TELEMETRY=false`;
  const pairs = settings
    .trim()
    .split(/\s+/)
    .map((setting) => setting.split('='));
  const env = Object.fromEntries(pairs) as Record<string, string>;
  await promisify(execFile)(process.execPath, [path.join(home, cli), 'bootstrap'], {
    cwd: home,
    env: { ...process.env, ...env },
  });
  const url = await start(server, env);
  await dataOf(`${url}/collections`, { authorization: `Bearer ${token}` }, customers);
  await withClient(databaseUrl, (client) => client.query(fillSql, [records]));
  return url;
}

const fillSql = `
  insert into customers (name, email, country)
  select (array['St. Mary','Karolinska','Osaka','Groote'])[1 + n % 4] || ' ' ||
         (array['Hospital','Clinic','Laboratory','Institute'])[1 + (n / 10) % 4] || ' ' || n,
         'it' || n || '@example.org', (array['DE','FR','US','JP'])[1 + n % 4]
    from generate_series(1, $1::int) n`;
