import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import { opened } from './opened.ts';

type Pair = { near: Socket; far: Socket; isSilent: boolean; said: string };

/** A TCP proxy with which a test interrupts connections as networks and dead hosts do. */
export type TcpSwitch = {
  /** The URL given to `startSwitch`, with the host and port of the switch. */
  url: string;
  /**
   * Mode for new connections, initially `forward`. `silent` accepts them and then does nothing, as a dead load balancer
   * does; `slow` forwards them after 1.2 s.
   */
  newOnes: 'forward' | 'silent' | 'slow' | 'refuse';
  /** Of the bytes that a client sent: is the response to them lost, and its connection reset? Once. */
  loses: ((said: string) => boolean) | undefined;
  /**
   * Stops forwarding on the open connections in both directions, and neither side learns that the other closed: as when
   * a host is gone or its address moved. `which` is called with the bytes that the client sent so far.
   */
  silence(which?: (said: string) => boolean): void;
  /** Resets the open connections on both sides; `which` as for `silence`. */
  reset(which?: (said: string) => boolean): void;
  /** The target of new connections. */
  pointTo(url: string): void;
};

const slowMs = 1200;

/** Starts a switch on a free port, in front of the service of that URL. */
export async function startSwitch(url: string): Promise<TcpSwitch> {
  let target = new URL(url);
  const pairs = new Set<Pair>();

  const server = createServer({ pauseOnConnect: true }, (near) => {
    near.on('error', () => undefined);
    if (result.newOnes === 'refuse') near.resetAndDestroy();
    else if (result.newOnes === 'slow') setTimeout(forward, slowMs, near, false);
    else forward(near, result.newOnes === 'silent');
  });
  function forward(near: Socket, isSilent: boolean): void {
    const far = connect({ host: target.hostname, port: Number(target.port) });
    const pair: Pair = { near, far, isSilent, said: '' };
    pairs.add(pair);
    far.on('error', () => undefined);
    const link = (from: Socket, to: Socket) => {
      from.setNoDelay(true);
      from.on('data', (bytes: Buffer) => {
        if (pair.isSilent) return;
        if (from === near) pair.said += bytes.toString('latin1');
        else if (result.loses?.(pair.said)) {
          result.loses = undefined;
          return end(pair);
        }
        to.write(bytes);
      });
      from.on('close', () => {
        if (pair.isSilent) return;
        to.destroy();
        pairs.delete(pair);
      });
    };
    link(near, far);
    link(far, near);
    near.resume();
  }
  const end = (pair: Pair) => {
    pair.near.resetAndDestroy();
    pair.far.resetAndDestroy();
    pairs.delete(pair);
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const own = new URL(url);
  own.hostname = '127.0.0.1';
  own.port = String((server.address() as AddressInfo).port);

  const reset: TcpSwitch['reset'] = (which = () => true) => {
    for (const pair of pairs) if (which(pair.said)) end(pair);
  };
  const result: TcpSwitch = {
    url: own.href,
    newOnes: 'forward',
    loses: undefined,
    silence(which = () => true) {
      for (const pair of pairs) if (which(pair.said)) pair.isSilent = true;
    },
    reset,
    pointTo(other) {
      target = new URL(other);
    },
  };
  opened.add(() => {
    reset();
    return new Promise((resolve) => server.close(resolve));
  });
  return result;
}
