/**
 * Tests adapters with peer packages that are too large for the development dependencies. Installs the packages
 * of `test/peers/package.json` in a folder of node_modules, checks the types, and runs the tests.
 */
import { installManifest } from "./install-manifest.ts";
import { runProgramOrExit } from "./run-program.ts";

installManifest("peers", "test/peers");
for (const command of ["tsc -p test/peers", "vitest run --config test/peers/vitest.config.ts"])
  runProgramOrExit("npx", command.split(" "));
