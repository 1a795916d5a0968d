import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig, devices } from '@playwright/test';

// Nothing of a test run may go over the network, and root (in a container) has no sandbox.
const args = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
];

const chromium = process.env.CHROMIUM_PATH;
const isWindows = process.platform === 'win32';
const report = process.env.PLAYWRIGHT_JSON_OUTPUT_FILE;

export default defineConfig({
  testDir: 'tests/e2e',
  testMatch: '*.e2e.ts',
  globalSetup: './tests/e2e/global-setup.ts',
  outputDir: 'test-results',
  // Each worker has a server of its own, and each test records of its own on it.
  fullyParallel: true,
  // One more than cores, since a test also waits. Two more leave no core idle either, and make each test slower.
  workers: Math.min(8, availableParallelism() + 1),
  // generous: a busy machine must not make a right answer wrong
  timeout: 600_000,
  // less than the minute after which caches forget a change that nobody announced
  expect: { timeout: 45_000 },
  forbidOnly: Boolean(process.env.CI),
  reporter: report ? [['list'], ['json', { outputFile: report }]] : 'list',
  use: {
    locale: 'en-GB',
    timezoneId: 'UTC',
    screenshot: 'only-on-failure',
    // scrollbars take width, as on Windows
    launchOptions: {
      args,
      ignoreDefaultArgs: ['--hide-scrollbars'],
      ...(chromium && {
        executablePath: isWindows ? chromium : join(import.meta.dirname, 'tests/e2e/nice-chromium.sh'),
      }),
    },
  },
  projects: [{ name: 'chromium', use: { ...devices['Desktop Chrome'] } }],
});
