import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig, type ViteUserConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Tests of commands, which import most modules of the library and start processes. They have workers of their own, so
 * that no state of other tests reaches their commands.
 */
const COMMANDS = ["src/cli/**/*.test.ts", "src/mcp/**/*.test.ts"];

/**
 * Tests with a worker of their own: most of them start processes or change the environment, and the single files replace
 * a Node module or start a browser.
 */
const ISOLATED = [
  "test/**/*.test.ts",
  "src/pages/cards/cards-page.test.ts",
  "src/pages/*.test.ts",
  "src/stores/sqlite/durability.test.ts",
  "src/stores/sqlite/migrate-earlier-file.test.ts",
  "src/experiments/run/full-disk.test.ts",
];

/** The files that take longest, because they start many processes. */
const LONGEST = [
  "test/docs.test.ts",
  "test/examples.test.ts",
  "test/research.test.ts",
  "src/mcp/create-mcp-server.test.ts",
  "test/resilience/recovery.test.ts",
  "src/pages/cards/cards-page.test.ts",
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
          exclude: [...ISOLATED, ...COMMANDS],
          isolate: false,
        },
      },
      {
        extends: true,
        test: { name: "commands", include: COMMANDS, isolate: false },
      },
    ],
  },
});

export default config;
