import { get } from 'node:http';
import type { Socket } from 'node:net';

/** Takes the beginning of a file and hangs up. */
export const breakOff = (url: string, headers: Record<string, string>): Promise<void> =>
  new Promise((resolve) => {
    const request = get(url, { headers }, (response) => {
      response.once('data', () => request.destroy());
      response.once('close', resolve);
      response.on('error', () => undefined);
    }).on('error', () => resolve());
  });

/**
 * Whether the other side reset a connection that ended, rather than closed it. Node may say `end` for both while there is
 * something to read; then only a write tells.
 */
export const isReset = (socket: Socket): Promise<boolean> =>
  new Promise((resolve) => socket.write('x', (error) => resolve(!!error)));
