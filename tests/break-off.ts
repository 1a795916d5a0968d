import { get } from 'node:http';

/** Takes the beginning of a file and hangs up. */
export const breakOff = (url: string, headers: Record<string, string>): Promise<void> =>
  new Promise((resolve) => {
    const request = get(url, { headers }, (response) => {
      response.once('data', () => request.destroy());
      response.once('close', resolve);
      response.on('error', () => undefined);
    }).on('error', () => resolve());
  });
