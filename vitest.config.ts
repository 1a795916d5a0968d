import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** What holds a time limit or fills a disk: one file after the other. */
const alone = [
  'server/db/embedded.test.ts',
  'tests/{drain,failover,faults,frozen-process,full-disk,locked-records,lost-standby}.test.ts',
  'tests/{promoted-replica,rolling-restart,start,storage-trouble,two-processes,workers}.test.ts',
];
/** Of the tests that belong to no room, these are as quiet as one. */
const quiet = 'tests/{deploy,folded,fuzz,impact,power,roles}.test.ts';

const together = {
  // A worker loads the service or the console once, and runs one file after the other: modules keep their state.
  isolate: false,
  // one more than cores, since some tests only wait; the database has connections for as many
  maxWorkers: Math.min(8, availableParallelism() + 1),
  sequence: { groupOrder: 0 },
};

export default defineConfig({
  test: {
    globalSetup: ['tests/global-setup.ts'],
    setupFiles: ['tests/same-examples.ts'],
    // generous: a busy machine must not make a right answer wrong
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // as long as `eventually` of tests/time.ts
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
          include: ['{server,tools}/**/*.test.ts', 'client/src/**/*.test.ts', quiet],
          exclude: alone,
          setupFiles: ['tests/close-opened.ts'],
          ...together,
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: alone,
          setupFiles: ['tests/close-opened.ts'],
          isolate: false,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'processes',
          include: ['tests/**/*.test.ts'],
          exclude: [quiet, ...alone],
          setupFiles: ['tests/close-opened.ts'],
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
