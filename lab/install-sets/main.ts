/**
 * `npm run lab -- install-sets` resolves every set of packages that a page, a template, an example, or `peerDependencies`
 * names together with Colloquy, without a lock file, with npm 10, npm 11, and pnpm. Nothing is installed.
 *
 *     npm run lab -- install-sets                     # all package managers
 *     npm run lab -- install-sets npm@10 pnpm@latest  # some package managers
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

const NPM_ARGS = ["install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund"];
const ARGS_BY_MANAGER: Readonly<Record<string, readonly string[]>> = {
  "npm@10": NPM_ARGS,
  "npm@11": NPM_ARGS,
  "pnpm@latest": ["add", "--lockfile-only", "--ignore-scripts"],
};

const chosen = process.argv.slice(2);
const unknown = chosen.filter((manager) => !(manager in ARGS_BY_MANAGER));
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(", ")}. Use ${Object.keys(ARGS_BY_MANAGER).join(", ")}.`);
  process.exit(2);
}

const workFolder = mkdtempSync(join(tmpdir(), "colloquy-install-sets-"));
const tarball = packManifest();
const sets = collectInstallSets(collectSources());
let failures = 0;
for (const manager of chosen.length > 0 ? chosen : Object.keys(ARGS_BY_MANAGER)) {
  for (const [index, { packages, sources }] of sets.entries()) {
    const folder = join(workFolder, `${manager}-${index}`);
    mkdirSync(folder);
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "app", version: "1.0.0" }));
    const args = ["--yes", manager, ...(ARGS_BY_MANAGER[manager] ?? []), tarball, ...packages];
    const { status, stdout, stderr } = runProgram("npx", args, { cwd: folder, stdio: "pipe" });
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
