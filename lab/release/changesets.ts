/**
 * Runs changesets, which is not a development dependency. `npm run lab -- release change` asks for a description of a change, and
 * `npm run lab -- release version` turns all descriptions into the next version and its section of CHANGELOG.md.
 */
import { join } from "node:path";
import process from "node:process";
import { installManifest } from "../support/install-manifest.ts";
import { runProgramOrExit } from "../support/run-program.ts";

const args = process.argv.slice(2);
const tools = installManifest("release-tools", "lab/release/tools");
runProgramOrExit(process.execPath, [join(tools, "node_modules/@changesets/cli/bin.js"), ...args]);
// The lock file contains the version, too.
if (args[0] === "version") runProgramOrExit("npm", ["install", "--package-lock-only"]);
