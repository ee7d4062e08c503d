import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: ['test/helpers/own-temp-folder.ts'],
    include: ['test/**/*.test.ts'],
    exclude: ['test/integ/**', 'node_modules/**'],
    testTimeout: 30_000,
    // Two cores is what CI has; more workers only fight over them.
    maxWorkers: 2,
  },
});
