/**
 * Tests Colloquy with real packages that are too large for the development dependencies. Each folder of `lab/peers` has
 * a manifest. The lab installs its packages in a folder of node_modules, checks the types, and runs the tests.
 *
 *   npm run lab -- peers [NAME …]     NAME is a folder of lab/peers; all folders by default
 */
import { globSync } from "node:fs";
import { basename, dirname } from "node:path";
import process from "node:process";
import { installManifest } from "../support/install-manifest.ts";
import { runProgram } from "../support/run-program.ts";

const allNames = globSync("lab/peers/*/package.json")
  .map((file) => basename(dirname(file)))
  .toSorted();
const names = process.argv.length > 2 ? process.argv.slice(2) : allNames;
const unknown = names.find((name) => !allNames.includes(name));
if (unknown !== undefined) {
  console.error(`error: lab/peers/${unknown} does not exist. The names are ${allNames.join(", ")}.`);
  process.exit(2);
}
const failed = names.filter((name) => {
  console.log(`── ${name}`);
  installManifest(`peers-${name}`, `lab/peers/${name}`);
  return [
    ["tsc", "-p", `lab/peers/${name}`],
    ["vitest", "run", "--config", "lab/peers/vitest.config.ts", `lab/peers/${name}/`],
  ].some((args) => runProgram("npx", args, { env: { ...process.env, COLLOQUY_PEER: name } }).status !== 0);
});
for (const name of failed) console.error(`── failed: ${name}`);
process.exitCode = failed.length === 0 ? 0 : 1;
