import cluster from 'node:cluster';
import { readConfig } from './config.ts';
import { holdOpen } from './hold-open.ts';
import { startUntilSignal } from './stop.ts';
import { refuseHalfRestored } from './unfinished-restore.ts';

/** With several workers, the primary loads no code of the service, to use little memory. */
async function main(): Promise<void> {
  const start = startUntilSignal();
  const config = readConfig(process.env);
  refuseHalfRestored(config.dataDir);
  if (config.workers > 1 && cluster.isPrimary)
    await (await import('./workers/primary.ts')).runPrimary(config, start);
  else await (await import('./serve.ts')).runServer(config, start);
}

holdOpen(main()).catch(async (error: unknown) => {
  const { whyNotStarted } = await import('./why-not-started.ts');
  process.stderr.write(`${whyNotStarted(error)}\n`);
  process.exit(1);
});
