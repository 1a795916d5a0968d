import { startEmbedded } from '../../server/db/embedded.ts';
import { restartRolling } from '../../tests/rolling-restart.ts';
import { newDataDir, removeDataDir } from '../../tests/server-process.ts';

const rounds = 9;

/** Nine rounds of a rolling restart behind nginx, as the docs set it up, with the drain that is the default there. */
export async function rollingRestart(): Promise<void> {
  const dataDir = await newDataDir();
  try {
    const { url } = await startEmbedded(dataDir, { exclusive: false, log: () => undefined });
    const { answered, lost, errors } = await restartRolling(url, rounds);
    const sum = Object.values(lost).reduce((total, count) => total + count, 0);
    console.log(
      `rolling restart: ${rounds} rounds, ${answered.GET} reads, ${answered.POST} changes, ${sum} lost`,
    );
    if (sum > 0) throw new Error(`Lost: ${JSON.stringify(lost)}\n${errors.slice(-4000)}`);
  } finally {
    await removeDataDir(dataDir);
  }
}
