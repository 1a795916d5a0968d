import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { run } from './process.mjs';

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
  const candidates = [
    process.env.CHROMIUM_PATH,
    chromium.executablePath(),
    ...NAMES.flatMap((name) => folders.map((folder) => join(folder, name))),
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
    const install = await run(['apt-get', 'install', '-y', '--no-install-recommends', 'chromium'], {
      quiet: true,
      env,
    });
    const now = install.ok ? await search() : undefined;
    if (now) return now;
    console.log(update.output.slice(-2000) + install.output.slice(-2000));
  }
  console.log('No Chromium was found for the browser tests. Install one with either of these:');
  console.log('  sudo apt-get update && sudo apt-get install -y chromium');
  console.log('  npx playwright install --with-deps chromium');
  console.log('Or set CHROMIUM_PATH to an existing one.');
  return undefined;
}
