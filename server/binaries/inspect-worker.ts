import { Worker } from 'node:worker_threads';

/** The result of one pass over all bytes of a file. */
export type Findings = {
  size: number;
  /** base64 */
  sha512: string;
  /** hex; null unless requested */
  sha1: string | null;
  /** The first and the last 66 KB at most. */
  head: Uint8Array;
  tail: Uint8Array;
  /** The gzipped block map for electron-updater; null unless requested. */
  blockmap: Uint8Array | null;
};

export type Wanted = { sha1: boolean; blockmap: boolean };

export type Job =
  | { do: 'open'; id: number; wanted: Wanted }
  | { do: 'file'; id: number; seq: number; path: string; start: number; end: number }
  | { do: 'bytes'; id: number; seq: number; bytes: Uint8Array }
  | { do: 'close'; id: number; seq: number }
  | { do: 'drop'; id: number };

export type Done = { seq: number; findings?: Findings; error?: string };

/** Runs the source text of `workerMain`, so the worker needs no file of its own in the build. */
export function startInspectWorker(): Worker {
  const worker = new Worker(`(${workerMain.toString()})(require)`, {
    eval: true,
    resourceLimits: { maxYoungGenerationSizeMb: 2 },
  });
  worker.unref();
  return worker;
}

/**
 * Hashes files and splits them into content-defined blocks (gear hash): a change only moves the boundaries near it, so
 * two versions of a program share most of their blocks.
 */
/* oxlint-disable typescript/no-require-imports, unicorn/require-post-message-target-origin */
function workerMain(load: NodeJS.Require): void {
  const { parentPort } = load('node:worker_threads') as typeof import('node:worker_threads');
  const { createHash } = load('node:crypto') as typeof import('node:crypto');
  const fs = load('node:fs') as typeof import('node:fs');
  const { gzipSync } = load('node:zlib') as typeof import('node:zlib');
  type Hash = import('node:crypto').Hash;

  const edgeBytes = 66 * 1024;
  /** Shared by all files, because the garbage collector would free a buffer for each one late. */
  const piece = Buffer.allocUnsafeSlow(256 * 1024);
  const block = { min: 16 * 1024, max: 128 * 1024, mask: ~0 << 17 };

  /** 256 fixed pseudo-random numbers; another table would make all older block maps useless. */
  const gear = new Int32Array(256);
  for (let i = 0; i < 256; i++)
    gear[i] = createHash('sha256').update(`lanyard gear ${i}`).digest().readInt32LE();

  type Blocks = {
    checksums: string[];
    sizes: number[];
    hash: Hash;
    /** Bytes in the current block, and their rolling hash. */
    length: number;
    rolling: number;
  };
  type State = {
    size: number;
    sha512: Hash;
    sha1: Hash | undefined;
    head: Buffer;
    tail: Buffer;
    blocks: Blocks | undefined;
  };
  const states = new Map<number, State>();

  function open(wanted: Wanted): State {
    const empty = Buffer.alloc(0);
    return {
      size: 0,
      sha512: createHash('sha512'),
      sha1: wanted.sha1 ? createHash('sha1') : undefined,
      head: empty,
      tail: empty,
      blocks: wanted.blockmap
        ? { checksums: [], sizes: [], hash: createHash('sha256'), length: 0, rolling: 0 }
        : undefined,
    };
  }

  function add(state: State, bytes: Buffer): void {
    state.size += bytes.length;
    state.sha512.update(bytes);
    state.sha1?.update(bytes);
    if (state.head.length < edgeBytes)
      state.head = Buffer.concat([state.head, bytes.subarray(0, edgeBytes - state.head.length)]);
    const last = bytes.subarray(-edgeBytes);
    state.tail =
      last.length === edgeBytes ? Buffer.from(last) : Buffer.concat([state.tail, last]).subarray(-edgeBytes);
    if (state.blocks) split(state.blocks, bytes);
  }

  function split(blocks: Blocks, bytes: Buffer): void {
    let start = 0;
    while (start < bytes.length) {
      const end = endOfBlock(blocks, bytes, start);
      blocks.hash.update(bytes.subarray(start, end.at));
      blocks.length += end.at - start;
      if (end.isBoundary) closeBlock(blocks);
      start = end.at;
    }
  }

  function endOfBlock(blocks: Blocks, bytes: Buffer, start: number): { at: number; isBoundary: boolean } {
    const limit = Math.min(bytes.length, start + block.max - blocks.length);
    let at = Math.min(bytes.length, start + Math.max(0, block.min - blocks.length));
    let rolling = blocks.rolling;
    while (at < limit) {
      // oxlint-disable-next-line typescript/no-non-null-assertion -- within both; a check would cost a tenth of the speed
      rolling = ((rolling << 1) + gear[bytes[at++]!]!) | 0;
      if ((rolling & block.mask) === 0) return { at, isBoundary: true };
    }
    blocks.rolling = rolling;
    return { at, isBoundary: blocks.length + at - start === block.max };
  }

  function closeBlock(blocks: Blocks): void {
    blocks.checksums.push(blocks.hash.digest().subarray(0, 18).toString('base64'));
    blocks.sizes.push(blocks.length);
    blocks.hash = createHash('sha256');
    blocks.length = 0;
    blocks.rolling = 0;
  }

  function addFile(state: State, path: string, start: number, end: number): void {
    const fd = fs.openSync(path, 'r');
    try {
      for (let at = start; at < end;) {
        const read = fs.readSync(fd, piece, 0, Math.min(piece.length, end - at), at);
        if (read === 0) throw new Error(`${path} ends at ${at}, before ${end}`);
        add(state, piece.subarray(0, read));
        at += read;
      }
    } finally {
      fs.closeSync(fd);
    }
  }

  function close(state: State): Findings {
    const { blocks } = state;
    if (blocks && blocks.length > 0) closeBlock(blocks);
    const map = blocks && {
      version: '2',
      files: [{ name: 'file', offset: 0, checksums: blocks.checksums, sizes: blocks.sizes }],
    };
    return {
      size: state.size,
      sha512: state.sha512.digest('base64'),
      sha1: state.sha1?.digest('hex') ?? null,
      head: state.head,
      tail: state.tail,
      blockmap: map ? gzipSync(JSON.stringify(map)) : null,
    };
  }

  function run(job: Job): Findings | undefined {
    if (job.do === 'open') states.set(job.id, open(job.wanted));
    if (job.do === 'drop') states.delete(job.id);
    const state = states.get(job.id);
    if (!state) return undefined;
    if (job.do === 'file') addFile(state, job.path, job.start, job.end);
    if (job.do === 'bytes')
      add(state, Buffer.from(job.bytes.buffer, job.bytes.byteOffset, job.bytes.byteLength));
    if (job.do !== 'close') return undefined;
    states.delete(job.id);
    return close(state);
  }

  parentPort?.on('message', (job: Job) => {
    const seq = 'seq' in job ? job.seq : -1;
    try {
      const findings = run(job);
      if (seq >= 0) parentPort?.postMessage(findings ? { seq, findings } : { seq });
    } catch (error) {
      parentPort?.postMessage({ seq, error: String(error) });
    }
  });
}
