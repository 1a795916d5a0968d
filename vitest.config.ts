import { defineConfig } from 'vitest/config';

/** What stops processes, fills disks or holds a time limit: nothing else may run beside it. */
const embedded = 'server/db/embedded.test.ts';
/** Of the tests that belong to no room, these are as quiet as one. */
const quiet = ['deploy', 'fuzz', 'impact', 'power', 'roles'].map((name) => `tests/${name}.test.ts`);

export default defineConfig({
  test: {
    globalSetup: ['tests/global-setup.ts'],
    // generous: a busy machine must not make a right answer wrong
    testTimeout: 60_000,
    hookTimeout: 120_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'rooms',
          include: ['{contract,server,web,tools}/**/*.test.{ts,tsx}', ...quiet],
          exclude: [embedded],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: ['tests/**/*.test.ts', embedded],
          exclude: quiet,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
