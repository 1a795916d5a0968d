import { hash, verify } from '@node-rs/argon2';
import { createHash, randomUUID } from 'node:crypto';
import { open } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import pg from 'pg';

/** The upper bounds: the minimum that a server on node:http and pg does for the same jobs. */
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 12 });
const stored = await hash('bench password', { memoryCost: 19_456, timeCost: 2, parallelism: 1 });

const jobs: Record<string, (query: URLSearchParams) => Promise<unknown>> = {
  '/plain': async () => ({ ok: true }),
  '/row': async (query) =>
    (
      await pool.query({
        name: 'row',
        text: 'select * from licenses where license_key = $1',
        values: [query.get('key')],
      })
    ).rows[0],
  '/rows': async () =>
    (await pool.query({ name: 'rows', text: 'select * from licenses order by license_id limit 50' })).rows,
  '/insert': insertWithAudit,
  '/argon2': () => verify(stored, 'bench password'),
};

async function insertWithAudit() {
  const client = await pool.connect();
  try {
    const id = randomUUID();
    await client.query('begin');
    const { rows } = await client.query({
      name: 'insert',
      text: `insert into customers (customer_id, name, country, created_at, updated_at)
             values ($1, $2, 'DE', now(), now()) returning *`,
      values: [id, `Bare ${id}`],
    });
    await client.query({
      name: 'audit',
      text: `insert into audit_entries (audit_id, timestamp, event_type, resource_type, resource_id, changes_summary, after, success)
             values ($1, now(), 'customer.created', 'customer', $2, 'created', $3, true)`,
      values: [randomUUID(), id, JSON.stringify(rows[0])],
    });
    await client.query('commit');
    return rows[0] as unknown;
  } finally {
    client.release();
  }
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url!, 'http://bare');
  if (request.method === 'PUT') return receive(request, response);
  request.resume();
  const body = JSON.stringify(await jobs[url.pathname]!(url.searchParams));
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

/** The minimum for receiving a file: hash it while it arrives, write it, sync it. */
async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const digest = createHash('sha512');
  const file = await open(process.env.BARE_FILE!, 'w');
  for await (const chunk of request as AsyncIterable<Buffer>) {
    digest.update(chunk);
    await file.write(chunk);
  }
  await file.sync();
  await file.close();
  response.end(digest.digest('base64'));
}

createServer((request, response) => {
  handle(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
}).listen(Number(process.env.PORT), '127.0.0.1', () => process.stdout.write('ready\n'));
