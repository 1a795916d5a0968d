import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { dataOf, limitRow, ratioRow, type Row, type Stage } from './stage.ts';
import { medianOf, type Measured } from './load.ts';
import { peakMemoryMb, resetPeakMemory } from './processes.ts';
import { startNginx } from './nginx.ts';

const fileMb = 1024;
const rounds = 3;
const maxMemoryMb = 200;
/** Growth of the memory during a download that still counts as constant. */
const maxGrowthMb = 32;

/** A file of 1 GiB: the upload compared with one bare PUT, the download with nginx. */
export async function benchBinaries(stage: Stage): Promise<Row[]> {
  const file = fileOf(fileMb);
  return [...(await uploading(stage, file)), ...(await downloading(stage, file))];
}

/** Six chunks in parallel, hashed, written and synced while they arrive. */
async function uploading({ bare, ours, staff, process }: Stage, file: Buffer<ArrayBuffer>): Promise<Row[]> {
  const sha512 = createHash('sha512').update(file).digest('base64');
  resetPeakMemory(process);
  const rates = await compareRates(fileMb, {
    bare: () => put(`${bare}/put`, file),
    ours: (round) => chunkedUpload(ours, staff, file, sha512, versionOf(round)),
  });
  return [
    ratioRow('chunked upload of 1 GiB, hashed and synced (MB/s)', 0.75, rates),
    limitRow('memory while uploading 1 GiB', maxMemoryMb, peakMemoryMb(process), 'MB'),
  ];
}

const versionOf = (round: number) => `9.0.${round}`;

/** The same file from the same disk to the same client. */
async function downloading({ ours, staff: headers, process, folder }: Stage, file: Buffer): Promise<Row[]> {
  const list = `${ours}/api/v1/updates/admin/releases?search=${versionOf(0)}`;
  const [release] = await dataOf<{ fileUrl: string }[]>(list, headers);
  const nginx = await startNginx(folder, file);
  if (!nginx)
    return [{ job: 'download of 1 GiB', target: '70 %', met: false, note: 'nginx is not installed' }];
  try {
    resetPeakMemory(process);
    const before = peakMemoryMb(process);
    const rates = await compareRates(fileMb, {
      bare: () => download(nginx.url, {}, file.length),
      ours: () => download(new URL(release!.fileUrl, ours).href, headers, file.length),
    });
    return [
      ratioRow('download of 1 GiB, compared with nginx (MB/s)', 0.7, rates),
      limitRow('memory while downloading 1 GiB', maxGrowthMb, peakMemoryMb(process) - before, 'MB more'),
    ];
  } finally {
    await nginx.stop();
  }
}

/** The median of three rates of each work on `mb` megabytes, in turn. */
export async function compareRates<Who extends string>(
  mb: number,
  works: Record<Who, (round: number) => Promise<void>>,
): Promise<Record<Who, Measured>> {
  const rates = Object.entries<(typeof works)[Who]>(works).map(([who, work]) => ({
    who,
    work,
    measured: [] as Measured[],
  }));
  for (let round = 0; round < rounds; round++)
    for (const { work, measured } of rates) measured.push(await megabytesPerSecond(mb, () => work(round)));
  const medians = rates.map(({ who, measured }) => [who, medianOf(measured)]);
  return Object.fromEntries(medians) as Record<Who, Measured>;
}

/** Throws if the file is not `length` bytes. */
export async function download(url: string, headers: Record<string, string>, length: number): Promise<void> {
  const [response] = (await once(get(url, { headers }), 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`${url}: ${response.statusCode}`);
  let bytes = 0;
  response.on('data', (chunk: Buffer) => (bytes += chunk.length));
  await once(response, 'end');
  if (bytes !== length) throw new Error(`${url}: ${bytes} bytes`);
}

/** The rate of work on `mb` megabytes. */
async function megabytesPerSecond(mb: number, work: () => Promise<void>): Promise<Measured> {
  const started = performance.now();
  await work();
  return { perSecond: mb / ((performance.now() - started) / 1000), p50: 0, p99: 0 };
}

export async function put(url: string, body: Buffer<ArrayBuffer>): Promise<void> {
  const response = await fetch(url, { method: 'PUT', body });
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  await response.text();
}

type Prepared = { uploadId: string; fileKey: string; chunkSize: number; totalChunks: number };

/** Uploads a file as a release, six chunks at a time. */
export async function chunkedUpload(
  url: string,
  staff: Stage['staff'],
  file: Buffer<ArrayBuffer>,
  sha512: string,
  version: string,
): Promise<void> {
  const build = { version, channel: 'alpha', platform: 'win32', architecture: 'arm64' };
  const base = `${url}/api/v1/binaries/upload`;
  const about = { fileName: 'bench.exe', fileSize: file.length, ...build };
  const prepared = await dataOf<Prepared>(`${base}/prepare`, staff, about);
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < prepared.totalChunks; index = next++) {
      const chunk = file.subarray(index * prepared.chunkSize, (index + 1) * prepared.chunkSize);
      const response = await fetch(`${base}/chunk/${prepared.uploadId}/${index}`, {
        method: 'PUT',
        headers: { ...staff, 'content-type': 'application/octet-stream' },
        body: chunk,
      });
      if (!response.ok) throw new Error(`chunk ${index}: ${response.status} ${await response.text()}`);
      await response.text();
    }
  };
  await Promise.all(Array.from({ length: 6 }, worker));
  const { uploadId, fileKey, totalChunks } = prepared;
  await dataOf(`${base}/complete`, staff, { uploadId, fileKey, totalChunks, sha512, ...build });
}

/** A file of random bytes that passes for a Windows program. */
export const fileOf = (mb: number): Buffer<ArrayBuffer> =>
  Buffer.concat([peHeader(), randomBytes(mb * 1024 * 1024)]);

/** A header that passes for a Windows program: `MZ`, and `PE` at the offset in the header. */
function peHeader(): Buffer {
  const header = Buffer.alloc(512);
  header.write('MZ', 0, 'latin1');
  header.writeUInt32LE(128, 60);
  header.write('PE\0\0', 128, 'latin1');
  header.writeUInt16LE(0x8664, 132);
  header.writeUInt16LE(0x20b, 152);
  return header;
}
