import dns from 'node:dns/promises';
import { once } from 'node:events';
import { createServer } from 'node:http';
import net from 'node:net';

/*
 * Preloaded into the server: the only external host that it reaches in these tests. Every file of http://files.example
 * has 1,024 bytes.
 */

const host = 'files.example';
const files = createServer((_, response) => response.writeHead(200, { 'content-length': 1024 }).end());
files.listen(0, '127.0.0.1').unref();
await once(files, 'listening');
const { port } = files.address();

const { lookup } = dns;
dns.lookup = (name, ...more) =>
  name === host ? Promise.resolve([{ address: '93.184.215.14', family: 4 }]) : lookup(name, ...more);

const { connect } = net;
net.connect = (to, ...more) =>
  to?.host === host ? connect({ host: '127.0.0.1', port }) : connect(to, ...more);
