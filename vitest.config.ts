import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { configDefaults, defineConfig, type ViteUserConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { PAGES } from "./lab/vitest.config.ts";

/**
 * Tests with a worker of their own: the tests of the documents' code and of telemetry change the environment or register global
 * instrumentation, and the others replace a module.
 */
const ISOLATED = [
  "test/documents/{docs,document-checks}.test.ts",
  "test/telemetry/**/*.test.ts",
  "src/stores/sqlite/durability.test.ts",
  "src/stores/sqlite/migrate-schema.test.ts",
  "src/stores/postgres/migrate-postgres-schema.test.ts",
  "src/cli/store/migrate-sqlite.test.ts",
  "test/resilience/store-migrations.test.ts",
  "src/cards/experiments/run/full-disk.test.ts",
];

/**
 * Tests that cover several rooms, and tests of commands and pages. Most of them start processes or browsers. They share
 * workers, because each file imports most modules of the library. No state of the tests in `src/` reaches them.
 */
const PROCESSES = [
  "test/**/*.test.ts",
  "src/cli/**/*.test.ts",
  "src/agents/mcp/**/*.test.ts",
  "src/studio/pages/*.test.ts",
];

/**
 * The files that take longest, because they start many processes, open pages, or wait. Files that wait alternate with
 * files that compute.
 */
const LONGEST = [
  "test/documents/docs.test.ts",
  "test/bad-input/hostile.test.ts",
  "test/resilience/recovery.test.ts",
  "src/studio/pages/console-page.test.ts",
  "test/resilience/nodes/two-servers.test.ts",
  "src/agents/mcp/create-mcp-server.test.ts",
  "src/cli/dev.test.ts",
  "test/house/package/package-budgets.test.ts",
  "test/resilience/postgres.test.ts",
  "test/interop/host-frameworks.test.ts",
  "test/resilience/resume.test.ts",
  "src/agents/mcp/mcp-tool-client.test.ts",
  "src/cli/cli.test.ts",
  "src/agents/mcp/tasks/mcp-tasks.test.ts",
  "test/resilience/once/kill-ten-steps.test.ts",
  "src/cli/mcp.test.ts",
  "test/resilience/restart.test.ts",
  "test/tap/stale-connections.test.ts",
  "src/cli/worker.test.ts",
  "src/cli/demo-console.test.ts",
  "test/resilience/mcp-task.test.ts",
  "test/documents/mistakes.test.ts",
  "src/cli/cards/run.test.ts",
  "src/stores/postgres/postgres-store.test.ts",
  "src/stores/postgres/pgbouncer.test.ts",
  "src/stores/sqlite/sqlite-store.test.ts",
  "src/agents/adk/sessions/sessions-over-a2a.test.ts",
  "src/server/unread-responses.test.ts",
  "src/agents/adk/sessions/session-service.test.ts",
  "src/server/maintenance/retention.test.ts",
  "src/cards/experiments/recorder/multi-role-recording.test.ts",
  "src/cards/experiments/run/run-experiment.test.ts",
  "src/server/server.test.ts",
  "src/client/hostile-servers.test.ts",
  "src/cards/views/drawings-browser.test.ts",
];

const rankLength = ({ moduleId }: TestSpecification): number => {
  const rank = LONGEST.findIndex((file) => moduleId.endsWith(`/${file}`));
  return rank === -1 ? LONGEST.length : rank;
};

/**
 * Starts the longest files of each project first, so that all workers end at about the same time. The projects follow
 * each other, because a worker ends before the file of another project starts, and its successor imports all modules
 * again.
 */
class LongestFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- a method of Vitest
    const sorted = await super.sort(files);
    const projects = Map.groupBy(sorted, ({ project }) => project);
    return [...projects.values()].flatMap((specifications) =>
      specifications.toSorted((one, other) => rankLength(one) - rankLength(other)),
    );
  }
}

const config: ViteUserConfig = defineConfig({
  test: {
    // A limit for tests that hang. It is far above the duration of any test, also on a busy machine.
    testTimeout: process.env["COLLOQUY_LONG_TESTS"] ? 600_000 : 120_000,
    hookTimeout: 120_000,
    retry: Number(process.env["COLLOQUY_TEST_RETRIES"] ?? 0),
    expect: { poll: { timeout: 30_000 } },
    pool: "threads",
    globalSetup: [
      "test/support/build-stale-page.ts",
      "test/support/bundle-for-test-processes.ts",
      "test/support/install-postgres.ts",
      "test/support/shared-postgres-server.ts",
    ],
    // More workers than cores, because many tests wait for the processes that they start.
    maxWorkers: availableParallelism() + 3,
    sequence: { sequencer: LongestFirstSequencer },
    // The processes that tests start reuse compiled modules.
    env: {
      NODE_COMPILE_CACHE: join(tmpdir(), "colloquy-test-compile-cache"),
      // The PostgreSQL store refuses webhooks with secrets without a key.
      COLLOQUY_PUSH_SECRET_KEYS: Buffer.alloc(32, "test").toString("base64"),
    },
    projects: [
      {
        extends: true,
        test: { name: "isolated", include: ISOLATED, sequence: { groupOrder: 0 } },
      },
      {
        extends: true,
        // One worker runs many files, and imports each module once. Imports take longer than most of these tests.
        test: {
          name: "shared",
          include: ["src/**/*.test.ts"],
          exclude: [...ISOLATED, ...PROCESSES, ...PAGES],
          isolate: false,
          // Most of these tests compute. Each further worker would import all modules again.
          maxWorkers: availableParallelism() + 1,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "processes",
          include: PROCESSES,
          exclude: [...configDefaults.exclude, ...ISOLATED, ...PAGES],
          isolate: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});

export default config;
