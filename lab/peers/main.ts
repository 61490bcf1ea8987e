/**
 * Tests adapters with peer packages that are too large for the development dependencies. Installs the packages
 * of `lab/peers/package.json` in a folder of node_modules, checks the types, and runs the tests.
 */
import { installManifest } from "../support/install-manifest.ts";
import { runProgramOrExit } from "../support/run-program.ts";

installManifest("peers", "lab/peers");
for (const command of ["tsc -p lab/peers", "vitest run --config lab/peers/vitest.config.ts"])
  runProgramOrExit("npx", command.split(" "));
