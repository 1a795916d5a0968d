import { Readable } from 'node:stream';
import { freeBuffers } from '../storage/free-buffers.ts';

/**
 * A response body that frees each piece once it is written. Node's `pipe` does not report that, so a download of 1 GB
 * would hold 80 MB until the garbage collector runs. Fastify calls only `pipe`, and `destroy` when the client disconnects.
 */
export class Body extends Readable {
  readonly #pieces: AsyncIterable<Buffer>;

  constructor(pieces: AsyncIterable<Buffer>) {
    super();
    this.#pieces = pieces;
  }

  override _read(): void {}

  override pipe<T extends NodeJS.WritableStream>(to: T): T {
    void this.#writeAll(to);
    return to;
  }

  async #writeAll(to: NodeJS.WritableStream): Promise<void> {
    try {
      for await (const piece of this.#pieces) {
        await write(to, piece);
        freeBuffers([piece]);
      }
      to.end();
      this.push(null);
      this.resume();
    } catch (error) {
      this.destroy(error as Error);
    }
  }
}

/** Resolves when the operating system has the piece. */
function write(to: NodeJS.WritableStream, piece: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const onClose = () => reject(new Error('The client disconnected'));
    to.once('close', onClose);
    to.write(piece, (error) => {
      to.off('close', onClose);
      if (error) reject(error);
      else resolve();
    });
  });
}
