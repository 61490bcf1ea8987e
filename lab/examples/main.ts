/**
 * Installs the packages of each example that has its own `package.json`, as its page describes, checks the types of the
 * example, and runs it with the built package. The tests of `examples/testing` run in the test runner of Node.js.
 */
import { globSync } from "node:fs";
import { dirname } from "node:path";
import process from "node:process";
import { runProgramOrExit } from "../support/run-program.ts";

const folders = globSync("examples/{*,hosts/*}/package.json").map((file) => dirname(file));
for (const folder of folders.toSorted())
  runProgramOrExit("npm", ["install", "--prefix", folder, "--no-audit", "--no-fund", "--loglevel=error"]);
runProgramOrExit("npx", ["tsc", "-p", "lab/examples"]);
runProgramOrExit(process.execPath, ["--test", ...globSync("examples/testing/*.test.ts").toSorted()]);
runProgramOrExit("npx", [
  "vitest",
  "run",
  "--config",
  "lab/examples/vitest.config.ts",
  ...process.argv.slice(2),
]);
