/**
 * Publishes the package that `npm run lab -- package` has built.
 *
 *   npm run lab -- release --dry-run    lists what a release still lacks, and runs `npm publish --dry-run`
 *   npm run lab -- release --publish    publishes: in CI with provenance, elsewhere only the first version (RELEASING.md)
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { findRepositoryUrl } from "../package/published-manifest.ts";
import { runProgram } from "../support/run-program.ts";
import { createPublishArguments, listPublisherMachineProblems } from "./publish-arguments.ts";
import { parsePublishedVersions } from "./published-versions.ts";
import { listReleaseProblems } from "./release-problems.ts";

const { values } = parseArgs({
  options: { "dry-run": { type: "boolean", default: false }, publish: { type: "boolean", default: false } },
});
if (values["dry-run"] === values.publish) {
  console.error("usage: npm run lab -- release --dry-run|--publish");
  process.exit(2);
}

interface PackedManifest {
  readonly name: string;
  readonly version: string;
  readonly repository?: object;
  readonly author?: unknown;
  readonly gitHead?: string;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const packageFolder = join(root, ".tmp/package");
const { name, version, repository, author } = readManifest(root);
const built = existsSync(join(packageFolder, "package.json")) ? readManifest(packageFolder) : undefined;
if (!built) {
  console.error("There is no package in .tmp/package: run npm run lab -- package.");
  process.exit(1);
}

const isInWorkflow = process.env["GITHUB_ACTIONS"] === "true";
const publishedVersions = parsePublishedVersions(
  runProgram("npm", ["view", name, "versions", "--json"], { stdio: "pipe" }),
);
const problems = listReleaseProblems({
  version,
  repositoryUrl: findRepositoryUrl({ repository }),
  author,
  builtVersion: built.version,
  builtCommit: built.gitHead,
  commit: readGit("rev-parse", "HEAD").trim(),
  isPushed: isInWorkflow || countUnpushedCommits() === "0",
  changelog: readFileSync(join(root, "CHANGELOG.md"), "utf8"),
  pendingChangesets: globSync("*.md", { cwd: join(root, ".changeset") }).map((file) => basename(file)),
  changedFiles: readGit("status", "--porcelain"),
  branch: process.env["GITHUB_REF_NAME"] ?? readGit("branch", "--show-current").trim(),
  publishedVersions,
});
if (values.publish) problems.push(...listPublisherMachineProblems(isInWorkflow, publishedVersions ?? []));
for (const problem of problems) console.error(`${values.publish ? "error" : "before a release"}: ${problem}`);
if (values.publish && problems.length > 0) process.exit(1);

const publishArguments = createPublishArguments({ packageFolder, isDryRun: !values.publish, isInWorkflow });
process.exitCode = runProgram("npm", publishArguments).status ?? 1;

function readManifest(folder: string): PackedManifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as PackedManifest;
}

/** Returns an empty text for a branch without an upstream branch. */
function countUnpushedCommits(): string {
  return runProgram("git", ["rev-list", "--count", "@{upstream}..HEAD"], { stdio: "pipe" }).stdout.trim();
}

function readGit(...args: string[]): string {
  const { status, stdout, stderr } = runProgram("git", args, { stdio: "pipe" });
  if (status !== 0) throw new Error(`git ${args.join(" ")} failed:\n${stderr}`);
  return stdout;
}
