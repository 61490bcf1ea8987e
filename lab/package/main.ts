/**
 * `npm run lab -- package` builds the package that is published: in `.tmp/package`, and as a tarball with its SBOM and its
 * release notes in `reports/package/`. The published package differs from the repository in three points: its manifest
 * lacks the members for development, the links in its pages are absolute, and it contains THIRD_PARTY_NOTICES.
 */
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { runProgram, runProgramOrExit } from "../support/run-program.ts";
import { makeLinksAbsolute } from "./absolute-links.ts";
import { listBundledPackageFolders } from "./bundled-packages.ts";
import { createPublishedManifest, findRepositoryUrl } from "./published-manifest.ts";
import { findReleaseNotes } from "./release-notes.ts";
import { createSbom, type SbomManifest } from "./sbom.ts";
import { readBundledPackage, renderThirdPartyNotices } from "./third-party-notices.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const packageFolder = join(root, ".tmp/package");
const reportsFolder = join(root, "reports/package");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as SbomManifest;

rmSync(join(root, "dist"), { recursive: true, force: true });
runProgramOrExit(process.execPath, ["scripts/build-page.mjs"]);
runNpm(["run", "--silent", "build"]);

for (const folder of [packageFolder, reportsFolder]) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
}
for (const path of listPackedFiles()) cpSync(join(root, path), join(packageFolder, path));
writeFileSync(
  join(packageFolder, "package.json"),
  `${JSON.stringify(createPublishedManifest({ ...manifest }, readCommit()), undefined, 2)}\n`,
);
const repository = findRepositoryUrl({ ...manifest });
if (repository !== undefined) replaceLinks(repository);
const bundledPackages = listBundledPackageFolders().map((folder) => readBundledPackage(join(root, folder)));
writeFileSync(
  join(packageFolder, "THIRD_PARTY_NOTICES"),
  renderThirdPartyNotices(bundledPackages, listNoticesInSources()),
);

runNpm(["pack", packageFolder, "--pack-destination", reportsFolder, "--loglevel=error"]);
writeFileSync(
  join(reportsFolder, "sbom.cdx.json"),
  `${JSON.stringify(createSbom(runNpmForOutput, manifest, bundledPackages), undefined, 2)}\n`,
);
const changelog = readFileSync(join(root, "CHANGELOG.md"), "utf8");
writeFileSync(join(reportsFolder, "release-notes.md"), findReleaseNotes(changelog, manifest.version));
console.log(`.tmp/package and reports/package contain version ${manifest.version}.`);

/** Returns the commit of the work tree. A tree with changes, or without Git as in an image, has none. */
function readCommit(): string | undefined {
  return runGit("status", "--porcelain") === "" ? runGit("rev-parse", "HEAD") : undefined;
}

function runGit(...args: string[]): string | undefined {
  try {
    const { status, stdout } = runProgram("git", args, { stdio: "pipe" });
    return status === 0 ? stdout.trim() : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the files that `files` of package.json selects. */
function listPackedFiles(): string[] {
  const [packed] = JSON.parse(runNpmForOutput(["pack", "--dry-run", "--json", "--ignore-scripts"])) as [
    { files: { path: string }[] },
  ];
  // npm packs each README, and shows the first match of `README.*.md` if there is one. README.md links to the others.
  return packed.files.map(({ path }) => path).filter((path) => !/^README\.\w+\.md$/.test(path));
}

function replaceLinks(repository: string): void {
  const published = new Set(globSync("**/*", { cwd: packageFolder }));
  for (const file of globSync("**/*.md", { cwd: packageFolder })) {
    const path = join(packageFolder, file);
    const { version } = manifest;
    // npm shows only README.md, so that links from it to other files of the package lead nowhere.
    const isPublished = (target: string): boolean => file !== "README.md" && published.has(target);
    const page = readFileSync(path, "utf8");
    writeFileSync(path, makeLinksAbsolute(page, file, { repository, version }, isPublished));
  }
}

/** Returns the notices in sources that contain data of others. Their first comment begins with an exclamation mark. */
function listNoticesInSources(): { title: string; text: string }[] {
  return globSync("src/**/*.ts", { cwd: root }).flatMap((file) => {
    const [, comment] = /^\/\*!\n([^]*?)\n \*\//.exec(readFileSync(join(root, file), "utf8")) ?? [];
    return comment === undefined ? [] : [{ title: file, text: comment.replaceAll(/^ \* ?/gm, "") }];
  });
}

function runNpm(args: readonly string[]): void {
  runProgramOrExit("npm", args);
}

function runNpmForOutput(args: readonly string[]): string {
  return runProgramOrExit("npm", args, { stdio: ["ignore", "pipe", "inherit"], maxBuffer: 2 ** 28 }).stdout;
}
