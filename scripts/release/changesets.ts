/**
 * Runs changesets, which is not a development dependency. `npm run change` asks for a description of a change, and
 * `npm run release:version` turns all descriptions into the next version and its section of CHANGELOG.md.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { installManifest } from "../install-manifest.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const args = process.argv.slice(2);
const tools = installManifest("release-tools", "scripts/release/tools");
const commands = [[process.execPath, join(tools, "node_modules/@changesets/cli/bin.js"), ...args]];
// The lock file and the reference contain the version, too.
if (args[0] === "version") commands.push(["npm", "install", "--package-lock-only"], ["npm", "run", "docs"]);
for (const [command = "", ...rest] of commands) {
  const { status } = spawnSync(command, rest, { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
