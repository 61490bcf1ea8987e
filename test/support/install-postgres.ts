import process from "node:process";
import { installManifest } from "../../lab/support/install-manifest.ts";
import { runProgram } from "../../lab/support/run-program.ts";

/**
 * Installs the programs of PostgreSQL for tests, once for each version. Without a network, tests use an installed
 * PostgreSQL. `test/support/shared-postgres-server.ts` reports if there is none.
 */
export default function installTestPostgres(): void {
  runProgram(process.execPath, ["test/support/install-postgres.ts"]);
}

// The installation ends its process if it fails.
if (import.meta.main) installManifest("postgres", "test/support/postgres");
