import autocannon from 'autocannon';
import { sql } from 'kysely';
import http from 'node:http';
import { test } from 'vitest';
import { makeApiKey, makeRelease } from '../../../tests/factories.ts';
import { startTestServer } from '../../../tests/harness.ts';
import { machines as calls } from '../../../contract/machines.ts';

test('perf', async () => {
  const server = await startTestServer();
  const admin = server.api(await server.signInAs('super_admin'));
  const key = await makeApiKey(admin, { scopes: ['updates'] });
  for (let n = 0; n < 200; n++)
    await makeRelease(server, { version: `1.${n}.0`, rolloutPercentage: n > 195 ? 20 : 100, platform: n % 3 ? 'win32' : 'darwin', fileKind: n % 3 ? 'exe' : 'zip' });
  const N = 1_000_000;
  let t = performance.now();
  await sql`set statement_timeout = 0`.execute(server.db).catch(() => 0);
  await server.db.connection().execute(async (db) => {
    await sql`set statement_timeout = 0`.execute(db);
    await sql`insert into machines (machine_hash, display_id, platform, architecture, channel, last_version, first_seen, last_seen, total_events, total_checks)
      select sha256(('m' || n)::bytea), upper(substr(encode(sha256(('m' || n)::bytea), 'hex'), 1, 12)), 'win32', 'x64', 'stable', '1.' || (n % 150) || '.0', now() - interval '1 day', now() - random() * interval '20 days', 10, 10
      from generate_series(1, ${N}::int) n`.execute(db);
    await sql`analyze machines`.execute(db);
  });
  console.log('fill', performance.now() - t);
  const pool = server.pool;
  const bare = http.createServer((req, res) => {
    const n = Math.floor(Math.random() * N);
    pool.query({ name: 'bare', text: 'select last_version from machines where machine_hash = sha256($1::bytea)', values: [Buffer.from('m' + n)] }).then(({ rows }) => {
      res.setHeader('content-type', 'text/plain');
      res.end(JSON.stringify(rows[0] ?? {}));
    });
  });
  await new Promise<void>((r) => bare.listen(0, '127.0.0.1', r));
  const port = (bare.address() as { port: number }).port;
  const run = (url: string, headers: object) =>
    autocannon({
      url, connections: 32, duration: 8, headers: headers as never,
      requests: [{ method: 'GET', path: new URL(url).pathname, setupRequest: (r: any) => ({ ...r, headers: { ...r.headers, ...headers, 'x-machine-id': 'm' + Math.floor(Math.random() * N) } }) }],
    } as never);
  for (let round = 0; round < 2; round++) {
    const b = await run(`http://127.0.0.1:${port}/`, {});
    const f = await run(`${server.url}/api/v1/updates/electron/win32/x64/latest.yml`, key.headers);
    const g = await run(`${server.url}/api/v1/updates/electron/win32/x64/latest.yml`, { ...key.headers, 'x-app-version': '1.3.0' });
    console.log('bare', b.requests.average, 'feed', f.requests.average, (f.requests.average / b.requests.average).toFixed(2), 'with version', g.requests.average, (g.requests.average / b.requests.average).toFixed(2), 'p99', f.latency.p99, 'non2xx', f.non2xx);
    t = performance.now();
    for (let i = 0; i < 200; i++) {
      const n = await server.db.selectFrom('update_events').select((eb) => eb.fn.countAll<number>().as('n')).executeTakeFirstOrThrow();
      await new Promise((r) => setTimeout(r, 100));
      const m = await server.db.selectFrom('update_events').select((eb) => eb.fn.countAll<number>().as('n')).executeTakeFirstOrThrow();
      if (n.n === m.n) { console.log('events', n.n, 'settled after', performance.now() - t, 'sent', f.requests.total + g.requests.total); break; }
    }
  }
  const time = async (name: string, work: () => Promise<unknown>) => {
    const times: number[] = [];
    for (let i = 0; i < 15; i++) { const from = performance.now(); await work(); times.push(performance.now() - from); }
    console.log(name, times.toSorted((a, b) => a - b)[7]!.toFixed(1));
  };
  await time('list', () => admin.ok(calls.list, { query: { limit: '50' } }));
  await time('list offset 500000', () => admin.ok(calls.list, { query: { limit: '50', offset: '500000' } }));
  await time('list after', async () => { const [m] = await admin.ok(calls.list, { query: { limit: '1', offset: '10' } }); return admin.ok(calls.list, { query: { limit: '50', after: `2026-11-10T00:00:00.000Z~${m!.machineIdHash}` } }); });
  await time('search AB', () => admin.ok(calls.list, { query: { limit: '50', search: 'AB' } }));
  await time('search A', () => admin.ok(calls.list, { query: { limit: '50', search: 'A' } }));
  await time('search full id', () => admin.ok(calls.list, { query: { limit: '50', search: 'm77' } }));
  const id = (await admin.ok(calls.list, { query: { limit: '1', search: 'm77' } }))[0]!.displayId;
  await time('get', () => admin.ok(calls.get, { params: { id } }));
  await time('explain', () => admin.ok(calls.explain, { params: { id } }));
  bare.closeAllConnections();
  bare.close();
  await server.close();
}, 600_000);
