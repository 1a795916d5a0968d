import type { Context } from '../context.ts';
import { isDatabaseUnreachable } from '../db/client.ts';
import type { ChainWatch } from '../features/audit/index.ts';

/** Entries are sealed within a second of their commit. */
const everyMs = 300;
/** The head is kept, and a piece of the chain checked. The first round through all of it does not wait so long. */
const checkEveryMs = 60_000;
const firstRoundEveryMs = 1000;

/** Seals audit entries as they are committed, and watches over the chain. Every process tries; one at a time seals. */
export function startAuditSealer(
  { signals, log }: Pick<Context, 'signals' | 'log'>,
  watch: ChainWatch,
): { stop(): Promise<void> } {
  const guarded = async <T>(work: () => Promise<T>, failed: string): Promise<T | undefined> => {
    if (!signals.isUp()) return undefined;
    try {
      return await work();
    } catch (error) {
      if (!isDatabaseUnreachable(error)) log.error({ err: error }, failed);
      return undefined;
    }
  };
  let stopped = false;
  let sealing: Promise<unknown> | undefined;
  const seal = () =>
    (sealing ??= guarded(watch.seal, 'Audit entries were not sealed').finally(() => (sealing = undefined)));
  const sealer = setInterval(() => void seal(), everyMs).unref();

  let checker: NodeJS.Timeout | undefined;
  let checking: Promise<void> | undefined;
  async function check(): Promise<void> {
    const ended = await guarded(watch.tick, 'The audit log was not checked');
    const isFirst = ended === false && watch.state().state === 'checking';
    if (!stopped) checker = setTimeout(run, isFirst ? firstRoundEveryMs : checkEveryMs).unref();
  }
  const run = () => void (checking = check());
  run();

  return {
    async stop() {
      stopped = true;
      clearInterval(sealer);
      clearTimeout(checker);
      // what the last calls wrote is sealed before the process goes
      await sealing;
      await checking;
      await seal();
    },
  };
}
