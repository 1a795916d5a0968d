import { systemChange, type ChangeParts } from '../change.ts';
import { isFailure } from '../failure.ts';
import { cleanUp, type ChainWatch } from '../features/audit/index.ts';
import type { CheckedTime } from '../checked-time.ts';
import type { Context } from '../context.ts';

/**
 * Removes audit entries older than the retention. Returns how many; if the chain is broken, removes none and logs it.
 */
export async function keepRetention(
  context: ChangeParts & Pick<Context, 'log'>,
  time: CheckedTime,
  watch: ChainWatch,
): Promise<number> {
  await watch.seal();
  const kept = await watch.readHeads();
  const result = await systemChange(context, time.now, (change) => cleanUp(change, time, watch.keys, kept));
  if (!isFailure(result)) return result.removed;
  context.log.error(result.message);
  return 0;
}
