/**
 * `npm run lab -- package check` builds the package like `npm run lab -- package`, and checks it: its manifest, its types,
 * its notices, the licenses of all packages, and its use from an empty folder.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { installManifest } from "../support/install-manifest.ts";
import { runProgram, runProgramOrExit } from "../support/run-program.ts";
import { listBundledPackageNames } from "./bundled-packages.ts";
import { findRepositoryUrl } from "./published-manifest.ts";
import { findUnpublishedLinks } from "./published-files.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const packageFolder = join(root, ".tmp/package");
runProgramOrExit(process.execPath, ["lab/package/main.ts"]);
const tools = join(installManifest("release-tools", "lab/release/tools"), "node_modules/.bin");
const [tarball = ""] = globSync(join(root, "reports/package/*.tgz"));

const notices = readFileSync(join(packageFolder, "THIRD_PARTY_NOTICES"), "utf8");
const readmes = globSync("README*", { cwd: packageFolder });
const manifest = JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8")) as Record<
  string,
  unknown
>;
const hasRepository = findRepositoryUrl(manifest) !== undefined;
const problems = [
  ...(readmes.join() === "README.md"
    ? []
    : [`npm may show another page than README.md: ${readmes.join(", ")}`]),
  ...listBundledPackageNames(join(packageFolder, "dist"))
    .filter((bundled) => !notices.includes(`\n${bundled} `))
    .map((bundled) => `THIRD_PARTY_NOTICES lacks ${bundled}, whose code is in dist/.`),
  // Without a repository, links cannot become absolute. `npm run lab -- release` then refuses to publish.
  ...(hasRepository ? findUnpublishedLinks(packageFolder) : []),
];
for (const problem of problems) console.error(problem);
const outcomes = [
  {
    title: hasRepository ? "notices, README, and links" : "notices and README",
    isGood: problems.length === 0,
  },
  check("publint", join(tools, "publint"), [packageFolder, "--strict"]),
  check("attw", join(tools, "attw"), [tarball, "--profile", "esm-only"]),
  check("types of entries without peers", "tsc", ["-p", "test/interop/user"]),
  check("types of entries with peers", process.execPath, ["lab/package/peer-types.ts"]),
  check("licenses", process.execPath, ["lab/package/licenses.ts"]),
  check("use from an empty folder", process.execPath, ["lab/package/try-package.mjs", "reports/package"]),
];
for (const { title, isGood } of outcomes) console.log(`${isGood ? "ok    " : "failed"} ${title}`);
process.exitCode = outcomes.every(({ isGood }) => isGood) ? 0 : 1;

function check(title: string, command: string, args: readonly string[]): { title: string; isGood: boolean } {
  console.log(`── ${title}`);
  return { title, isGood: runProgram(command, args).status === 0 };
}
