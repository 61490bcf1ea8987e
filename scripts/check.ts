/**
 * `npm run check` runs every check of a change: format, lint, types, package, API, regular expressions, wording, the code
 * of the documents, pages in a browser, and all tests. It continues after a failure, and lists the failed
 * checks at its end.
 *
 *   npm run check -- --static     all checks that do not run the library
 *   npm run check -- NAME …       some checks
 */
import { spawnSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";

const NODE = process.execPath;
const CHECKS: Readonly<Record<string, readonly string[]>> = {
  format: ["npx", "oxfmt", "--check"],
  lint: ["npm", "run", "--silent", "lint"],
  types: ["npm", "run", "--silent", "types"],
  package: [NODE, "lab/package/check.ts"],
  // Reads the declarations that the check of the package has built.
  api: [NODE, "scripts/api/main.ts", "--check"],
  "regular expressions": [NODE, "lab/regular-expressions/main.ts"],
  prose: [NODE, "scripts/prose/main.ts"],
  documents: [NODE, "lab/main.ts", "documents"],
  pages: [NODE, "lab/main.ts", "pages"],
  tests: [NODE, "node_modules/vitest/vitest.mjs", "run"],
};

/** Checks that run the library. */
const RUNS = ["documents", "pages", "tests"];

const args = process.argv.slice(2);
const named = args.filter((arg) => !arg.startsWith("--"));
const unknown = named.find((name) => !Object.hasOwn(CHECKS, name));
if (unknown !== undefined) {
  console.error(
    `error: no check has the name "${unknown}". The checks are ${Object.keys(CHECKS).join(", ")}.`,
  );
  process.exit(2);
}
const names = Object.keys(CHECKS).filter((name) =>
  named.length > 0 ? named.includes(name) : !RUNS.includes(name) || !args.includes("--static"),
);
const failed = names.filter((name) => {
  const [command = "", ...commandArgs] = CHECKS[name] ?? [];
  console.log(`── ${name}`);
  const { status } = spawnSync(command, commandArgs, {
    cwd: fileURLToPath(new URL("..", import.meta.url)),
    stdio: "inherit",
    shell: process.platform === "win32" && command !== NODE,
  });
  return status !== 0;
});
for (const name of failed) console.error(`── failed: ${name}`);
console.log(`${names.length - failed.length} checks passed, ${failed.length} failed`);
process.exitCode = failed.length === 0 ? 0 : 1;
