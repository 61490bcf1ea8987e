/**
 * `npm run site` builds the documentation site from the pages of the repository, into `reports/site`. The packages of
 * `site/package.json` are installed in `site/node_modules`, so that the main install stays small.
 *
 *     npm run site              # builds
 *     npm run site -- dev       # serves the site, and reloads changed pages
 *     npm run site -- preview   # serves the built site
 *
 * Set `SITE_BASE` for a site below a path of its host, such as `SITE_BASE=/colloquy/`, and also for `npm run site:check`.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { repositoryRoot } from "../../site/site-pages.ts";

const siteFolder = join(repositoryRoot, "site");

function runCommand(command: string, args: readonly string[]): void {
  const { status } = spawnSync(command, args, { cwd: siteFolder, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

/** Reads the versions of the packages that a lock file requires on every machine, by path. */
function readLockedVersions(file: string): Map<string, string | undefined> {
  const { packages } = JSON.parse(readFileSync(file, "utf8")) as {
    packages: Record<string, { version?: string; optional?: boolean }>;
  };
  const required = Object.entries(packages).filter(([path, { optional }]) => path !== "" && !optional);
  return new Map(required.map(([path, { version }]) => [path, version]));
}

/** Returns whether `site/node_modules` contains the packages of the lock file. */
function isInstalled(): boolean {
  const installedFile = join(siteFolder, "node_modules/.package-lock.json");
  if (!existsSync(installedFile)) return false;
  const installed = readLockedVersions(installedFile);
  const wanted = readLockedVersions(join(siteFolder, "package-lock.json"));
  return [...wanted].every(([path, version]) => installed.get(path) === version);
}

if (!isInstalled()) {
  console.log("Installing the packages of site/package.json …");
  runCommand("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
}
const [command = "build"] = process.argv.slice(2);
if (command === "build") runCommand(join(repositoryRoot, "node_modules/.bin/tsc"), ["-p", "."]);
runCommand(join(siteFolder, "node_modules/.bin/vitepress"), [command, "."]);
