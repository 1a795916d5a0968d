import { defineConfig } from 'vitest/config';

/** `npm run torture`: what takes minutes each, one after the other, with the machine for itself. */
export default defineConfig({
  test: {
    globalSetup: ['tests/global-setup.ts'],
    include: ['tools/torture/*.torture.ts'],
    fileParallelism: false,
    // the limits of the database as in service
    env: { DATABASE_LIMIT_FACTOR: '1' },
    testTimeout: 20 * 60_000,
    hookTimeout: 120_000,
  },
});
