import { readOptions, usage } from './publish-release/options.ts';
import { createProgress } from './publish-release/progress.ts';
import { publishRelease } from './publish-release/upload.ts';

/** `npm run publish-release -- --file … --version …`: uploads a build as a release, from a pipeline. */
async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2), process.env);
  if (options === 'help') {
    process.stdout.write(usage);
    return;
  }
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort()).once('SIGTERM', () => stop.abort());
  const progress = createProgress(process.stderr);
  try {
    const release = await publishRelease(options, {
      onSent: (sent, total) => progress.show(sent, total),
      onWait: (line) => progress.say(line),
      signal: stop.signal,
    });
    const { version, channel, platform, architecture, isDraft, rolloutPercentage } = release;
    progress.end();
    const state = isDraft ? 'a draft' : `published to ${rolloutPercentage} % of the machines`;
    process.stdout.write(
      `${version} for ${platform} ${architecture} on ${channel} is ${state}.\n${release.fileUrl}\n`,
    );
  } finally {
    progress.end();
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
});
