import { MessageChannel } from 'node:worker_threads';

const { port1: nowhere, port2 } = new MessageChannel();
port2.close();
nowhere.unref();

/**
 * Frees network buffers that are no longer needed by transferring them to a closed port. The garbage collector sees
 * only a few hundred bytes of heap in each, so tens of MB would accumulate during an upload.
 */
export function freeBuffers(pieces: readonly Buffer[]): void {
  for (const { buffer, byteLength } of pieces) {
    // A view of a larger buffer shares its memory with other views.
    const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    if (isWhole && byteLength > 0) nowhere.postMessage(undefined, [buffer]);
  }
}
