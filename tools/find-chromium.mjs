import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { run } from './process.mjs';

/** The same browser without windows: a test takes two thirds of the time in it. */
const SHELL = 'chromium-headless-shell';
const NAMES = [
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
  'chrome',
  'microsoft-edge',
];
const APPLICATIONS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

async function search() {
  const { chromium } = await import('@playwright/test');
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/snap/bin'];
  const named = (name) => folders.map((folder) => join(folder, name));
  const candidates = [
    process.env.CHROMIUM_PATH,
    ...named(SHELL),
    chromium.executablePath(),
    ...NAMES.flatMap(named),
    ...APPLICATIONS,
  ];
  return candidates.find((path) => path && existsSync(path));
}

/** The path of a Chromium, which root installs if needed; undefined after printing how to install one. */
export async function findChromium() {
  const found = await search();
  if (found) return found;
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    console.log('No Chromium found: installing it with apt-get …');
    const env = { DEBIAN_FRONTEND: 'noninteractive' };
    const update = await run(['apt-get', 'update'], { quiet: true, env });
    let said = update.output.slice(-2000);
    for (const name of [SHELL, 'chromium']) {
      const install = await run(['apt-get', 'install', '-y', '--no-install-recommends', name], {
        quiet: true,
        env,
      });
      const now = install.ok ? await search() : undefined;
      if (now) return now;
      said += install.output.slice(-2000);
    }
    console.log(said);
  }
  console.log('No Chromium was found for the browser tests. Install one with either of these:');
  console.log('  sudo apt-get update && sudo apt-get install -y chromium-headless-shell');
  console.log('  npx playwright install --with-deps chromium');
  console.log('Or set CHROMIUM_PATH to an existing one.');
  return undefined;
}
