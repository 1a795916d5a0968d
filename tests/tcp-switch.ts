import { createServer, connect, type AddressInfo, type Socket } from 'node:net';

type Pair = { near: Socket; far: Socket; isSilent: boolean; said: string };

/** A proxy in front of a TCP service, by which a test takes connections away as networks and dead hosts do. */
export type TcpSwitch = {
  /** The address given to `startSwitch`, with the host and port of the switch. */
  url: string;
  /**
   * What becomes of new connections; `forward` at first. `silent` accepts them and nothing more, as a dead load balancer
   * does; `slow` forwards them after 1.2 s.
   */
  newOnes: 'forward' | 'silent' | 'slow' | 'refuse';
  /**
   * From now on nothing comes through the present connections, in either direction, and neither side hears that the
   * other hung up: as when a host is gone or its address moved. `which` is asked with what the client sent so far.
   */
  silence(which?: (said: string) => boolean): void;
  /** Resets the present connections on both sides; `which` as for `silence`. */
  reset(which?: (said: string) => boolean): void;
  /** Where new connections go from now on. */
  pointTo(url: string): void;
  close(): Promise<void>;
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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const own = new URL(url);
  own.hostname = '127.0.0.1';
  own.port = String((server.address() as AddressInfo).port);

  const reset: TcpSwitch['reset'] = (which = () => true) => {
    for (const pair of pairs) {
      if (!which(pair.said)) continue;
      pair.near.resetAndDestroy();
      pair.far.resetAndDestroy();
      pairs.delete(pair);
    }
  };
  const result: TcpSwitch = {
    url: own.href,
    newOnes: 'forward',
    silence(which = () => true) {
      for (const pair of pairs) if (which(pair.said)) pair.isSilent = true;
    },
    reset,
    pointTo(other) {
      target = new URL(other);
    },
    close() {
      reset();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return result;
}
