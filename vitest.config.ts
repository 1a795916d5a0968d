import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{contract,server,web,tools,tests}/**/*.test.{ts,tsx}'],
    globalSetup: ['tests/global-setup.ts'],
    // generous: a busy machine must not make a right answer wrong
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
