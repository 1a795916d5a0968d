import { MessageChannel } from 'node:worker_threads';

const { port1: nowhere, port2 } = new MessageChannel();
port2.close();
nowhere.unref();

/**
 * Frees the memory of pieces that came from the network, which nobody may read after. Left to the garbage collector,
 * which sees a few hundred bytes of heap in each, tens of MB of them lie about during an upload; what is sent to a
 * closed port is freed at once.
 */
export function freeBuffers(pieces: readonly Buffer[]): void {
  for (const { buffer, byteLength } of pieces) {
    // a piece of a larger buffer shares that with others
    const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    if (isWhole && byteLength > 0) nowhere.postMessage(undefined, [buffer]);
  }
}
