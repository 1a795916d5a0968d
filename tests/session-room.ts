import { session as calls } from '../contract/session.ts';
import { startTestServer, type Identity, type TestServer } from './harness.ts';

export const me = (on: TestServer, who: Identity) => on.api(who).call(calls.me);

export const later = (on: TestServer, ms: number) => on.clock.advance(ms);

/** A server of its own for tests that move the clock or count failures. */
export async function alone(work: (own: TestServer) => Promise<void>, options = {}): Promise<void> {
  const own = await startTestServer(options);
  try {
    await work(own);
  } finally {
    await own.close();
  }
}
