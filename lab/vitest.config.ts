import { defineConfig, type ViteUserConfig } from "vitest/config";

/** Tests that open many pages in a browser. `npm test` tests the console in a browser, and no other page. */
export const PAGES: string[] = [
  "src/studio/pages/console-accessibility.test.ts",
  "src/studio/pages/console-hostile.test.ts",
  "src/studio/pages/record-hostile.test.ts",
  "src/studio/pages/flow-page.test.ts",
  "src/studio/pages/cards/cards-page.test.ts",
];

/**
 * Tests of the lab: the tests of its tools (`npm run lab -- tests`), the tests that run the documents
 * (`npm run lab -- documents`), tests of pages (`npm run lab -- pages`), the tests on complete datasets (`npm run lab -- datasets`), and the measurements of time, CPU time, and memory (`npm run lab -- timings`). `npm test`
 * runs none of them.
 */
const config: ViteUserConfig = defineConfig({
  test: {
    testTimeout: 120_000,
    hookTimeout: 120_000,
    retry: Number(process.env["COLLOQUY_TEST_RETRIES"] ?? 0),
    expect: { poll: { timeout: 30_000 } },
    globalSetup: [
      "test/support/build-stale-page.ts",
      "test/support/bundle-for-test-processes.ts",
      "test/support/shared-postgres-server.ts",
    ],
    projects: [
      {
        extends: true,
        test: {
          name: "tests",
          include: ["lab/**/*.test.ts"],
          exclude: ["lab/{datasets,documents,timings}/**"],
        },
      },
      {
        extends: true,
        test: { name: "documents", include: ["lab/documents/*.test.ts"] },
      },
      {
        extends: true,
        test: { name: "pages", include: PAGES },
      },
      {
        extends: true,
        // COLLOQUY_DATA names the folder of the datasets.
        test: { name: "datasets", include: ["lab/datasets/*.test.ts"], testTimeout: 600_000 },
      },
      {
        extends: true,
        // One file after another, so that no measurement disturbs another measurement.
        test: { name: "timings", include: ["lab/timings/*.test.ts"], fileParallelism: false },
      },
    ],
  },
});

export default config;
