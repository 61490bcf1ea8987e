import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { configDefaults, defineConfig, type ViteUserConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Tests with a worker of their own: the tests of pages, documents, and telemetry start browsers, change the environment,
 * or register global instrumentation, and the single files of rooms replace a Node module.
 */
const ISOLATED = [
  "test/docs.test.ts",
  "test/documents/*.test.ts",
  "test/telemetry/**/*.test.ts",
  "src/pages/cards/cards-page.test.ts",
  "src/pages/*.test.ts",
  "src/stores/sqlite/durability.test.ts",
  "src/stores/sqlite/migrate-earlier-file.test.ts",
  "src/experiments/run/full-disk.test.ts",
];

/**
 * Tests that cover several rooms, and tests of commands. Most of them start processes. They share workers, because each
 * file imports most modules of the library. No state of the tests in `src/` reaches them.
 */
const PROCESSES = ["test/**/*.test.ts", "src/cli/**/*.test.ts", "src/mcp/**/*.test.ts"];

/** The files that take longest, because they start many processes. */
const LONGEST = [
  "test/docs.test.ts",
  "test/examples.test.ts",
  "test/research.test.ts",
  "src/mcp/create-mcp-server.test.ts",
  "test/resilience/recovery.test.ts",
  "src/pages/cards/cards-page.test.ts",
  "src/pages/console-accessibility.test.ts",
  "src/pages/flow-page.test.ts",
  "src/pages/console-page.test.ts",
  "test/nodes/two-servers.test.ts",
  "test/resilience/resume.test.ts",
  "test/mistakes.test.ts",
  "test/resilience/approval.test.ts",
  "src/mcp/tasks/mcp-tasks.test.ts",
  "src/cli/mcp.test.ts",
  "src/cli/cli.test.ts",
];

const isLongest = ({ moduleId }: TestSpecification): boolean =>
  LONGEST.some((file) => moduleId.endsWith(`/${file}`));

/** Starts the longest files first, so that all workers end at about the same time. */
class LongestFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- a method of Vitest
    const sorted = await super.sort(files);
    return [...sorted.filter(isLongest), ...sorted.filter((file) => !isLongest(file))];
  }
}

const config: ViteUserConfig = defineConfig({
  test: {
    setupFiles: ["/tmp/b21/measure-setup.ts"],
    // A limit for tests that hang. It is far above the duration of any test, also on a busy machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    pool: "threads",
    globalSetup: [
      "test/build-stale-page.ts",
      "test/bundle-for-test-processes.ts",
      "test/shared-postgres-server.ts",
    ],
    // More workers than cores, because many tests wait for the processes that they start.
    maxWorkers: availableParallelism() + 2,
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
        test: { name: "isolated", include: ISOLATED },
      },
      {
        extends: true,
        // One worker runs many files, and imports each module once. Imports take longer than most of these tests.
        test: {
          name: "shared",
          include: ["src/**/*.test.ts"],
          exclude: [...ISOLATED, "src/cli/**", "src/mcp/**"],
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: "processes",
          include: PROCESSES,
          exclude: [...configDefaults.exclude, ...ISOLATED],
          isolate: false,
        },
      },
    ],
  },
});

export default config;
