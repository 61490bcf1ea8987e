/**
 * `npm run lab -- install-sets` resolves every set of packages that a page, a template, an example, or `peerDependencies`
 * names together with Colloquy, without a lock file, with npm 10, npm 11, and pnpm. Nothing is installed.
 *
 *     npm run lab -- install-sets                     # all package managers
 *     npm run lab -- install-sets npm10 pnpm          # some package managers
 */
import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { DOCUMENTS, readDocument, root } from "../../test/documents/code-blocks.ts";
import { createPublishedManifest } from "../package/published-manifest.ts";
import { runProgram, runProgramOrExit } from "../support/run-program.ts";
import {
  collectInstallSets,
  collectPackagesOfManifest,
  collectPackagesOfPage,
} from "./collect-install-sets.ts";

const QUIET_ARGS = ["--ignore-scripts", "--no-audit", "--no-fund"];
const NPM_ARGS = ["install", "--package-lock-only", ...QUIET_ARGS];
/** Package managers by name: the package, its program, and the arguments of the program. */
const MANAGERS = {
  npm10: ["npm@10", "bin/npm-cli.js", NPM_ARGS],
  npm11: ["npm@11", "bin/npm-cli.js", NPM_ARGS],
  pnpm: ["pnpm@latest", "bin/pnpm.mjs", ["add", "--lockfile-only", "--ignore-scripts"]],
} as const;
const MANAGER_NAMES = Object.keys(MANAGERS) as (keyof typeof MANAGERS)[];

const args = process.argv.slice(2);
const chosen = MANAGER_NAMES.filter((name) => args.length === 0 || args.includes(name));
if (chosen.length === 0 || args.some((arg) => !(arg in MANAGERS))) {
  console.error(`Unknown package manager in "${args.join(" ")}". Use ${MANAGER_NAMES.join(", ")}.`);
  process.exit(2);
}

const workFolder = mkdtempSync(join(tmpdir(), "colloquy-install-sets-"));
const tarball = packManifest();
installManagers();
const sets = collectInstallSets(collectSources());
let failures = 0;
for (const manager of chosen) {
  const [, program, installArgs] = MANAGERS[manager];
  const programFile = join(workFolder, "node_modules", manager, program);
  for (const [index, { packages, sources }] of sets.entries()) {
    const folder = join(workFolder, `${manager}-${index}`);
    mkdirSync(folder);
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "app", version: "1.0.0" }));
    const { status, stdout, stderr } = runProgram(
      process.execPath,
      [programFile, ...installArgs, tarball, ...packages],
      { cwd: folder, stdio: "pipe" },
    );
    const title = `${manager}: ${packages.join(" ") || "(only colloquy)"}`;
    if (status === 0) console.log(`ok     ${title}`);
    else {
      failures += 1;
      console.log(`failed ${title}\n       named by ${sources.join(", ")}\n${stdout}${stderr}`);
    }
  }
}
rmSync(workFolder, { recursive: true, force: true });
console.log(`${sets.length} sets, ${failures} failures`);
process.exitCode = failures === 0 ? 0 : 1;

function collectSources(): Map<string, string[]> {
  const packagesBySource = new Map(
    DOCUMENTS.map((page) => [page, collectPackagesOfPage(page, readDocument(page))]),
  );
  for (const file of globSync("{templates,examples}/{*,hosts/*}/package.json", { cwd: root }))
    packagesBySource.set(file, collectPackagesOfManifest(readManifest(file)));
  const { peerDependencies = {} } = readManifest("package.json");
  for (const peer of Object.keys(peerDependencies))
    packagesBySource.set(`peerDependencies of ${peer}`, [peer]);
  return packagesBySource;
}

/** Installs each package manager under its name, because a start through `npx` takes as long as the resolution. */
function installManagers(): void {
  const aliases = MANAGER_NAMES.map((name) => `${name}@npm:${MANAGERS[name][0]}`);
  runProgramOrExit("npm", ["install", ...QUIET_ARGS, "--prefix", workFolder, ...aliases], {
    stdio: ["ignore", "ignore", "inherit"],
  });
}

/** Packs only the manifest, because the resolution depends on nothing else. Returns the path of the tarball. */
function packManifest(): string {
  const folder = join(workFolder, "colloquy");
  mkdirSync(folder);
  const manifest = createPublishedManifest({ ...readManifest("package.json") });
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  runProgramOrExit("npm", ["pack", folder, "--pack-destination", workFolder, "--silent"], {
    stdio: "ignore",
  });
  const name = readdirSync(workFolder).find((file) => file.endsWith(".tgz"));
  if (name === undefined) throw new Error("npm pack has created no package.");
  return join(workFolder, name);
}

function readManifest(file: string): {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
} {
  return JSON.parse(readFileSync(join(root, file), "utf8")) as ReturnType<typeof readManifest>;
}
