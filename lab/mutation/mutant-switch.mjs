/**
 * The module that switched sources import. `main.ts` copies it to the root of the copy. The file
 * `active-mutant` contains the key of a mutant, or `record` to write each reached key to `reached-mutants`.
 */
import { appendFileSync, readFileSync } from "node:fs";

const activeMutant = readFileSync(new URL("active-mutant", import.meta.url), "utf8");
const reachedMutants = new Set();

// Processes that a test starts inherit the name of the test.
const vitestWorker = globalThis["__vitest_worker__"];
if (vitestWorker) process.env.MUTATION_TEST_FILE = vitestWorker.filepath;

export function isActiveMutant(key) {
  if (activeMutant === "record" && !reachedMutants.has(key)) {
    reachedMutants.add(key);
    const line = `${process.env.MUTATION_TEST_FILE}\t${key}\n`;
    appendFileSync(new URL("reached-mutants", import.meta.url), line);
  }
  return key === activeMutant;
}
