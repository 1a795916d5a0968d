import type { Context } from '../context.ts';
import { isDatabaseUnreachable } from '../db/client.ts';
import type { ChainWatch } from '../features/audit/index.ts';
import { untilEnded } from '../stop.ts';

/** Entries are sealed within a second of their commit. */
const everyMs = 300;
/** How often the head is stored and a section of the chain is checked, after the first full check of the chain. */
const checkEveryMs = 60_000;
const firstRoundEveryMs = 1000;

/** Seals committed audit entries and monitors the chain. Every process runs this; only one seals at a time. */
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
      const end = async () => {
        await sealing;
        await checking;
        // the entries of the last calls
        await seal();
      };
      await untilEnded(end());
    },
  };
}
