/**
 * Tests adapters with peer packages that are too large for the development dependencies. Installs the packages
 * of `test/peers/package.json` in a folder of node_modules, checks the types, and runs the tests.
 */
import { spawnSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { installManifest } from "./install-manifest.ts";

const repositoryRoot = fileURLToPath(new URL("..", import.meta.url));

installManifest("peers", "test/peers");
for (const command of ["tsc -p test/peers", "vitest run --config test/peers/vitest.config.ts"]) {
  const { status } = spawnSync("npx", command.split(" "), {
    cwd: repositoryRoot,
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (status !== 0) process.exit(status ?? 1);
}
