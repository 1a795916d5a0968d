import { defineConfig } from 'vitest/config';

/** What stops processes, fills disks or holds a time limit: nothing else may run beside it. */
const alone = ['tests/**/*.test.ts', 'server/db/embedded.test.ts'];

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
          include: ['{contract,server,web,tools}/**/*.test.{ts,tsx}'],
          exclude: alone,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: 'alone', include: alone, fileParallelism: false, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
