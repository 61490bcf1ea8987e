/**
 * Tests adapters with peer packages that are too large for the development dependencies. Installs the packages
 * of `test/peers/package.json` in a folder of node_modules, checks the types, and runs the tests.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const repositoryRoot = fileURLToPath(new URL("..", import.meta.url));
const packageFile = join(repositoryRoot, "test/peers/package.json");
const cacheFolder = join(repositoryRoot, "node_modules/.cache/colloquy-peers");
const installedMark = join(cacheFolder, "installed.json");

function runCommand(command: string, args: readonly string[], cwd: string): void {
  const { status } = spawnSync(command, args, { cwd, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

const wantedPackages = readFileSync(packageFile, "utf8");
if (!existsSync(installedMark) || readFileSync(installedMark, "utf8") !== wantedPackages) {
  console.log("Installing the Claude Agent SDK (about 430 MB) …");
  mkdirSync(cacheFolder, { recursive: true });
  copyFileSync(packageFile, join(cacheFolder, "package.json"));
  runCommand(
    "npm",
    ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
    cacheFolder,
  );
  writeFileSync(installedMark, wantedPackages);
}
runCommand("npx", ["tsc", "-p", "test/peers"], repositoryRoot);
runCommand("npx", ["vitest", "run", "--config", "test/peers/vitest.config.ts"], repositoryRoot);
