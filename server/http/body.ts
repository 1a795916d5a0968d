import { Readable } from 'node:stream';
import { freeBuffers } from '../storage/free-buffers.ts';

/**
 * A body for Fastify that writes itself. Fastify only calls `pipe` of a stream, and `destroy` when the client is gone.
 * A pipe of Node does not tell when a piece has left: its memory would wait for the garbage collector, and a download
 * of a gigabyte would hold 80 MB of pieces that nobody needs.
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

/** Resolves when the piece is with the operating system. */
function write(to: NodeJS.WritableStream, piece: Buffer): Promise<void> {
  return new Promise((written, failed) => {
    const gone = () => failed(new Error('The client is gone'));
    to.once('close', gone);
    to.write(piece, (error) => {
      to.off('close', gone);
      if (error) failed(error);
      else written();
    });
  });
}
