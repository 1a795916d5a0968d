import { createHash, randomBytes } from 'node:crypto';
import type { Row, Stage } from './licensing.ts';
import { compare, load, type Measured, type Target } from './load.ts';
import { updateSizes } from './updates-dataset.ts';

/** The jobs of updates: the feed beside one row by key, the console's lists, and a chunked upload beside a bare PUT. */
export async function benchUpdates(stage: Stage, scale: number): Promise<Row[]> {
  const { bare, ours, sample } = stage;
  const staff = { authorization: `Bearer ${stage.bearer}` };
  const machines = Math.round(updateSizes.machines * scale);
  const check = await compare(
    { url: bare, next: (n) => ({ path: `/row?key=${sample[n % sample.length]!.licenseKey}` }) },
    {
      url: ours,
      headers: { 'x-api-key': stage.apiKey },
      next: (n) => ({
        path: `/api/v1/updates/electron/win32/x64/latest.yml?noCache=${n}&machineId=bench-${1 + ((n * 7919) % machines)}&currentVersion=4.1.0`,
      }),
    },
    stage.seconds,
  );
  const ratio = check.ours.perSecond / check.bare.perSecond;
  return [
    { job: 'update check with machine, decision, event', target: '40 %', ...check, met: ratio >= 0.4 },
    await reading('release list', `${ours}/api/v1/updates/admin/releases?showInactive=false`, staff),
    await reading('analytics tab', `${ours}/api/v1/updates/admin/analytics`, staff),
    await reading('machine page', `${ours}/api/v1/updates/admin/machines/${displayHash(1)}`, staff),
    await upload(stage),
  ];
}

const displayHash = (n: number) => createHash('sha256').update(`bench-${n}`).digest('hex');

async function reading(job: string, url: string, headers: Record<string, string>): Promise<Row> {
  const target: Target = { url, headers, connections: 1 };
  const measured = await load(target, 4);
  return { job, target: 'p50 < 50 ms', ours: measured, met: measured.p50 < 50 };
}

const uploadMb = 400;

/** Megabytes a second, six chunks in parallel, beside one PUT that hashes, writes and syncs; three rounds of each. */
async function upload({ bare, ours, bearer }: Stage): Promise<Row> {
  const file = Buffer.concat([peHeader(), randomBytes(uploadMb * 1024 * 1024)]);
  const sha512 = createHash('sha512').update(file).digest('base64');
  const rates = { bare: [] as number[], ours: [] as number[] };
  for (let round = 0; round < 3; round++) {
    rates.bare.push(await megabytesPerSecond(() => put(`${bare}/put`, file)));
    rates.ours.push(
      await megabytesPerSecond(() =>
        chunked(ours, bearer, file, sha512, `9.${Date.now() % 100_000}.${round}`),
      ),
    );
  }
  const [bareRate, oursRate] = [rates.bare.toSorted(up)[1]!, rates.ours.toSorted(up)[1]!];
  const as = (perSecond: number): Measured => ({ perSecond, p50: 0, p99: 0 });
  return {
    job: `chunked upload of ${uploadMb} MB, hashed and synced (MB/s)`,
    target: '75 %',
    bare: as(bareRate),
    ours: as(oursRate),
    met: oursRate / bareRate >= 0.75,
  };
}

const up = (a: number, b: number) => a - b;

async function megabytesPerSecond(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return uploadMb / ((performance.now() - started) / 1000);
}

async function put(url: string, body: Buffer<ArrayBuffer>): Promise<void> {
  const answer = await fetch(url, {
    method: 'PUT',
    body: body,
  });
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  await answer.text();
}

type Prepared = { uploadId: string; fileKey: string; chunkSize: number; totalChunks: number };

async function chunked(
  url: string,
  bearer: string,
  file: Buffer<ArrayBuffer>,
  sha512: string,
  version: string,
): Promise<void> {
  const authorization = `Bearer ${bearer}`;
  const send = async <T>(path: string, body: object): Promise<T> => {
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return ((await answer.json()) as { data: T }).data;
  };
  const build = { version, channel: 'alpha', platform: 'win32', architecture: 'arm64' };
  const base = '/api/v1/binaries/upload';
  const prepared = await send<Prepared>(`${base}/prepare`, {
    fileName: 'bench.exe',
    fileSize: file.length,
    ...build,
  });
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < prepared.totalChunks; index = next++) {
      const chunk = file.subarray(index * prepared.chunkSize, (index + 1) * prepared.chunkSize);
      const answer = await fetch(`${url}${base}/chunk/${prepared.uploadId}/${index}`, {
        method: 'PUT',
        headers: { authorization, 'content-type': 'application/octet-stream' },
        body: chunk,
      });
      if (!answer.ok) throw new Error(`chunk ${index}: ${answer.status} ${await answer.text()}`);
      await answer.text();
    }
  };
  await Promise.all(Array.from({ length: 6 }, worker));
  const { uploadId, fileKey, totalChunks } = prepared;
  await send(`${base}/complete`, { uploadId, fileKey, totalChunks, sha512, ...build });
}

/** What the server takes for a Windows program: MZ, and PE where the header says. */
function peHeader(): Buffer {
  const header = Buffer.alloc(512);
  header.write('MZ', 0, 'latin1');
  header.writeUInt32LE(128, 60);
  header.write('PE\0\0', 128, 'latin1');
  header.writeUInt16LE(0x8664, 132);
  header.writeUInt16LE(0x20b, 152);
  return header;
}
