import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** What stops processes, fills disks or holds a time limit: one file after the other. */
const embedded = 'server/db/embedded.test.ts';
/** Of the tests that belong to no room, these are as quiet as one. */
const quiet = ['deploy', 'folded', 'fuzz', 'impact', 'power', 'roles'].map((name) => `tests/${name}.test.ts`);

const together = {
  // A worker loads the service or the console once, and runs one file after the other: modules keep their state.
  isolate: false,
  // the database has connections for as many
  maxWorkers: Math.min(8, availableParallelism()),
  sequence: { groupOrder: 0 },
};

export default defineConfig({
  test: {
    globalSetup: ['tests/global-setup.ts'],
    setupFiles: ['tests/same-examples.ts'],
    // generous: a busy machine must not make a right answer wrong
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // as long as `eventually` of tests/harness.ts
    expect: { poll: { timeout: 45_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'console',
          include: ['{contract,web}/**/*.test.{ts,tsx}'],
          setupFiles: ['tests/browser-setup.ts'],
          ...together,
        },
      },
      {
        extends: true,
        test: {
          name: 'rooms',
          include: ['{server,tools}/**/*.test.ts', 'client/src/**/*.test.ts', ...quiet],
          exclude: [embedded],
          setupFiles: ['tests/close-opened.ts'],
          ...together,
        },
      },
      {
        extends: true,
        test: {
          name: 'processes',
          include: ['tests/**/*.test.ts', embedded],
          exclude: quiet,
          setupFiles: ['tests/close-opened.ts'],
          fileParallelism: false,
          isolate: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
