/**
 * Runs before `npm start`, `npm test`, and other scripts, so that they work in a fresh clone and on any
 * installed Node version from 18. It installs missing dependencies from the lock file. It also makes sure
 * that the `node` dev dependency is installed, which npm puts first in the PATH of its scripts.
 *
 * It must stay a separate `pre…` script, because a shell that has already resolved `node` continues to use
 * the host's version.
 */
import { spawnSync } from "node:child_process";
import { lstatSync, readFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { isInstalled } from "./is-installed.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const lock = JSON.parse(readFileSync(`${root}package-lock.json`, "utf8"));

if (!isInstalled(root)) {
  if (lstatSync(`${root}node_modules`, { throwIfNoEntry: false })?.isSymbolicLink()) {
    fail(
      "node_modules is a link and lacks packages of package-lock.json. Run `npm ci` in the linked directory.",
    );
  }
  const began = Date.now();
  say("Installing the dependencies with npm ci (about a minute) …");
  if (!npm("ci", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"))
    fail("`npm ci` failed. See its output above.");
  say(`Installed in ${Math.round((Date.now() - began) / 1000)} s.`);
}
// An npm configured to skip install scripts leaves the package without its binary.
if (!hasNode()) {
  say("Installing Node for the scripts (npm rebuild node) …");
  if (!npm("rebuild", "node", "--ignore-scripts=false", "--loglevel=error") || !hasNode()) useHostNode();
}
if (!buildPage()) fail("The page of the console could not be built. See the output above.");

noteHostNode();

/** The scripts of this clone run on their own Node, and the projects that the clone creates do not. */
function noteHostNode() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < 22 || (major === 22 && minor < 18))
    say(
      `This clone brings its own Node. Your own projects need Node 22.18 or later, and yours is ${process.version}.`,
    );
}

function hasNode() {
  const { stdout } = spawnSync(`${root}node_modules/node/bin/node`, ["--version"], { encoding: "utf8" });
  return stdout?.trim() === `v${lock.packages["node_modules/node"].version}`;
}

function useHostNode() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < 22 || (major === 22 && minor < 18)) {
    fail(
      `Node ${process.version} is too old, and Node 24 could not be installed. Install Node 22.18 or newer.`,
    );
  }
  say(`Node 24 could not be installed. Continuing with the host's ${process.version}.`);
}

/** Builds the page bundles in `src/studio/pages/`, which Git ignores, unless they are up to date. */
function buildPage() {
  const node = hasNode() ? `${root}node_modules/node/bin/node` : process.execPath;
  const built = spawnSync(node, [`${root}scripts/build-page.mjs`, "--if-stale"], { stdio: "inherit" });
  return built.status === 0;
}

/** Runs npm on the current Node binary, because the binary in node_modules is being replaced. */
function npm(...args) {
  const cli = process.env.npm_execpath;
  const options = { cwd: root, stdio: "inherit" };
  const done = cli
    ? spawnSync(process.env.npm_node_execpath ?? process.execPath, [cli, ...args], options)
    : spawnSync("npm", args, { ...options, shell: process.platform === "win32" });
  return done.status === 0;
}

function say(line) {
  console.error(`setup: ${line}`);
}

function fail(line) {
  say(line);
  process.exit(1);
}
