import { createHash, generateKeyPairSync, randomBytes, randomUUID, sign } from 'node:crypto';
import nodeFs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { expect, onTestFinished } from 'vitest';
import { assemble, type Replaced } from './assemble.ts';
import type { Files } from './durable.ts';
import { machineHash } from './license-file.ts';
import type { Client, ClientOptions } from './types.ts';
import { newFolder } from '../../tests/place.ts';

/* A server that speaks Lanyard's formats and can be made to lie. */

export const licenseKey = 'E7K2M-0QX4T-9ZB3C-5DF8G-HJ6C1';
export const day = 86_400_000;

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16);
const ownFile = (name: string, machineId = 'ws-07') => name.replace(/(?=\.|$)/, `-${hashOf(machineId)}`);

/** The files in which a machine keeps its key pair and its token for a license. */
export const secretFiles = (machineId?: string, forKey = licenseKey) =>
  [ownFile('machine-key', machineId), ownFile(`machine-token-${hashOf(forKey)}`, machineId)] as const;

/** What else a machine keeps. */
export const licenseFile = ownFile(`license-${hashOf(licenseKey)}.jws`);
export const decisionFile = ownFile('decision.json');
export const timesFile = ownFile('times.json');
export const receiptFile = ownFile('receipt.json');
export const sequenceFile = ownFile('sequence');

/** A virus scanner holds this file. */
export const unreadable = (name: string): Files => ({
  ...nodeFs,
  readFileSync: ((file: string) => {
    if (file.endsWith(name)) throw Object.assign(new Error('busy'), { code: 'EBUSY' });
    return nodeFs.readFileSync(file, 'utf8');
  }) as Files['readFileSync'],
});

/** A signing key of a server. */
export function newSigner() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const publicKeyPem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const keyId = createHash('sha256').update(publicKeyPem).digest('hex').slice(0, 16);
  const signature = (text: string) => sign(null, Buffer.from(text), privateKey);
  return {
    keyId,
    publicKeyPem,
    /** As base64url. */
    publicKey: publicKey.export({ format: 'jwk' }).x!,
    answer(facts: object) {
      const signed = JSON.stringify(facts);
      return { signed, signature: signature(signed).toString('base64'), keyId };
    },
    /** An entry of `GET /api/v1/keys` for another key, endorsed by this one. */
    endorse(other: { keyId: string; publicKeyPem: string }) {
      const { keyId: id, publicKeyPem: pem } = other;
      const said = { purpose: 'lanyard signing key', keyId: id, publicKeyPem: pem, endorsedBy: keyId };
      const { signed, signature: by } = this.answer(said);
      return { keyId: id, publicKeyPem: pem, endorsement: { keyId, signed, signature: by } };
    },
    licenseFile(claims: object) {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
      const signed = `${part({ alg: 'EdDSA', typ: 'lanyard-license+jwt', kid: keyId })}.${part(claims)}`;
      return `${signed}.${signature(signed).toString('base64url')}`;
    },
  };
}

export type Call = { path: string; headers: http.IncomingHttpHeaders; body: Record<string, string> };
type Answer = { status: number; body: unknown; headers?: Record<string, string> };

const newToken = () => {
  const random = randomBytes(32).toString('hex');
  return `lym_${random.slice(0, 12)}_${random.slice(12, 55)}`;
};

/** A clock that both sides read, a server, and folders for its clients. */
export async function startFakeServer(tls?: { cert: string; key: string }) {
  const clock = { at: Date.parse('2026-11-22T12:00:00.000Z') };
  const calls: Call[] = [];
  const fake = {
    clock,
    calls,
    /** What the connections named by TLS, which tells a proxy in front of several servers whom to pass them to. */
    serverNames: [] as (string | false | null | undefined)[],
    url: '',
    signer: newSigner(),
    keys: [] as object[],
    code: 'VALID',
    tokens: new Set<string>(),
    /** Answers a call otherwise; undefined: as usual. `hang`: never. */
    instead: undefined as ((call: Call) => Answer | 'hang' | undefined) | undefined,
    /** The facts of a decision on a call. */
    decide({ body }: Call) {
      const valid = fake.code === 'VALID';
      return {
        valid,
        code: fake.code,
        message: `It is ${fake.code}.`,
        license: {
          licenseKey: body['licenseKey'] ?? licenseKey,
          type: 'enterprise',
          validUntil: new Date(clock.at + 365 * day).toISOString(),
          modules: [{ moduleId: 'mod_lung_nodule', name: 'Lung nodules' }],
        },
        activation: null,
        machineId: body['machineId'],
        nonce: body['nonce'] ?? null,
        issuedAt: new Date(clock.at).toISOString(),
        expiresAt: new Date(valid ? clock.at + 14 * day : clock.at).toISOString(),
      };
    },
    /** A license file for the machine that made a request. */
    fileFor(request: string, claims: object = {}) {
      const asked = JSON.parse(Buffer.from(request.split('.')[1]!, 'base64url').toString()) as Call['body'];
      const iat = Math.floor(clock.at / 1000);
      return fake.signer.licenseFile({
        iss: fake.url,
        sub: asked['sub'],
        jti: randomUUID(),
        iat,
        nbf: iat,
        exp: iat + (90 * day) / 1000,
        machine: machineHash(asked['machineId']!),
        key: asked['key'],
        type: 'enterprise',
        modules: ['mod_diabetes'],
        grace: 0,
        request: asked['jti'],
        ...claims,
      });
    },
    /** A client in a folder of its own, unless one is given. */
    async client(options: Partial<ClientOptions> = {}, replaced: Replaced = {}) {
      const folder = options.folder ?? (await newFolder());
      const client = assemble(
        {
          server: fake.url,
          licenseKey,
          publicKeys: [fake.signer.publicKeyPem],
          machineId: 'ws-07',
          now: () => new Date(clock.at),
          // beyond what a busy machine takes for a call
          timeoutMs: 60_000,
          ...options,
          folder,
        },
        { env: {}, ...replaced },
      );
      return Object.assign(client, { folder });
    },
  };

  function answerTo(call: Call): Answer {
    const token = call.headers['x-machine-token'] as string | undefined;
    if (call.path === '/api/v1/keys') return { status: 200, body: { data: fake.keys } };
    if (call.path === '/api/v1/machines/enroll') {
      const machineToken = newToken();
      fake.tokens.clear();
      if (fake.code === 'VALID') fake.tokens.add(machineToken);
      const data = { ...fake.signer.answer(fake.decide(call)), machineToken };
      return { status: 200, body: { data: fake.code === 'VALID' ? data : { ...data, machineToken: null } } };
    }
    if (!token || !fake.tokens.has(token))
      return { status: 401, body: { error: 'The machine token is not known.' } };
    if (call.path === '/api/licenses/validate')
      return { status: 200, body: { data: fake.signer.answer(fake.decide(call)) } };
    fake.tokens.clear();
    return { status: 200, body: { data: { released: true, code: 'RELEASED', message: 'Free.' } } };
  }

  const listener: http.RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const body = (text ? JSON.parse(text) : {}) as Call['body'];
      const call = { path: request.url ?? '', headers: request.headers, body };
      calls.push(call);
      const answer = fake.instead?.(call) ?? answerTo(call);
      if (answer === 'hang') return;
      response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
      response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
    });
  };
  const server = tls ? https.createServer(tls, listener) : http.createServer(listener);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  server.on('secureConnection', ({ servername }: TLSSocket) => fake.serverNames.push(servername));
  const { port } = server.address() as AddressInfo;
  // the certificate is for this name, which only a proxy can find
  fake.url = tls ? `https://lanyard.test:${port}` : `http://127.0.0.1:${port}`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return fake;
}

export const noNetwork = () => ({ status: 502, body: 'no network' });

export async function requestOf({ offlineRequest }: Pick<Client, 'offlineRequest'>): Promise<string> {
  const asked = await offlineRequest();
  if (!asked.ok) throw new Error(asked.message);
  return asked.request;
}

/** A machine that never reaches the server, and runs by a license file. */
export async function withFile(fake: Awaited<ReturnType<typeof startFakeServer>>) {
  fake.instead = noNetwork;
  const client = await fake.client();
  const file = fake.fileFor(await requestOf(client));
  expect(await client.importLicense(file)).toMatchObject({ ok: true });
  expect(await client.check()).toMatchObject({ valid: true, source: 'file' });
  return { ...client, file };
}

/** A proxy that finds every name on this machine; `password`: refuses whoever does not send it. `secure`: by https. */
export async function startProxy(password?: string, secure?: { cert: string; key: string }) {
  const asked: string[] = [];
  const isAllowed = ({ headers }: http.IncomingMessage) =>
    password === undefined ||
    headers['proxy-authorization'] === `Basic ${Buffer.from(`hospital:${password}`).toString('base64')}`;
  const listener: http.RequestListener = (request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(502).end();
  };
  const proxy = secure ? https.createServer(secure, listener) : http.createServer(listener);
  proxy.on('connect', (request: http.IncomingMessage, socket: Socket) => {
    asked.push(`CONNECT ${request.url}`);
    if (!isAllowed(request)) return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    const server = connect(Number(request.url?.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      server.pipe(socket).pipe(server);
    });
    for (const end of [server, socket]) end.on('error', () => end.destroy());
  });
  await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return { asked, host: `127.0.0.1:${(proxy.address() as AddressInfo).port}` };
}

/** A machine that never reaches the server, with its request. */
export async function isolated(fake?: Awaited<ReturnType<typeof startFakeServer>>) {
  fake ??= await startFakeServer();
  fake.instead = noNetwork;
  const client = await fake.client();
  return { fake, client, request: await requestOf(client) };
}

/** The parts of a JWS; `signed` is what its signature is over. */
export function partsOf(jws: string) {
  const [header, claims, signature] = jws.split('.');
  const parse = (part: string) =>
    JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, string>;
  return {
    header: parse(header!),
    claims: parse(claims!),
    signed: Buffer.from(`${header}.${claims}`),
    signature: Buffer.from(signature!, 'base64url'),
  };
}
