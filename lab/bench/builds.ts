import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** A built checkout of Colloquy. */
export interface Build {
  /** Short hash of the commit, with `+` if files of the build differ from the commit. */
  readonly commit: string;
  /** Date of the commit, `YYYY-MM-DD`. */
  readonly date: string;
  /** Folder with the built package. */
  readonly root: string;
  /** Folder of the checkout with the sources. */
  readonly sources: string;
}

export type ColloquyModule = typeof import("../../src/entries/colloquy.ts");
export type AdkModule = typeof import("../../src/entries/adk.ts");

/** This checkout. */
export const CHECKOUT_ROOT: string = fileURLToPath(new URL("../../", import.meta.url));
/** Folder for other checkouts and for stores. It is on the disk of this checkout, because `/tmp` is often in memory. */
export const SCRATCH_DIR: string = join(CHECKOUT_ROOT, ".tmp/");
/** Files of a checkout that change what is measured. */
const MEASURED_PATHS = ["src", "bin", "scripts", "package.json", "package-lock.json"];

/** Imports an entry of a build by its name in `package.json`, so that the layout of the build does not matter. */
export async function importEntry<T = ColloquyModule>(root: string, entry = "colloquy"): Promise<T> {
  const file = createRequire(join(root, "package.json")).resolve(entry);
  return (await import(pathToFileURL(file).href)) as T;
}

/** Builds this checkout, with its uncommitted changes. */
export function buildCheckout(logProgress: (line: string) => void): Build {
  logProgress("building this checkout");
  runNpm(CHECKOUT_ROOT, "run", "-s", "build");
  const isChanged = git("status", "--porcelain", "--", ...MEASURED_PATHS) !== "";
  return {
    ...describeCommit("HEAD", isChanged ? "+" : ""),
    root: CHECKOUT_ROOT,
    sources: CHECKOUT_ROOT,
  };
}

/**
 * Copies the built package of a checkout to `.tmp/builds/current`, next to the builds of commits. Later changes of the
 * checkout then do not reach the measurement, and the folders of both builds are alike.
 */
export function copyBuild(build: Build): Build {
  const root = join(SCRATCH_DIR, "builds/current");
  rmSync(root, { recursive: true, force: true });
  for (const path of ["dist", "bin", "package.json"])
    cpSync(join(build.root, path), join(root, path), { recursive: true });
  symlinkSync(join(build.root, "node_modules"), join(root, "node_modules"));
  return { ...build, root };
}

/**
 * Checks out a commit into a Git worktree in `.tmp/builds/`, and builds it. Later calls reuse the build. The checkout
 * shares `node_modules` with this checkout if both have the same lock file.
 */
export function buildCommit(ref: string, logProgress: (line: string) => void): Build {
  const described = describeCommit(ref, "");
  const root = join(SCRATCH_DIR, "builds", described.commit);
  const build = { ...described, root, sources: root };
  if (existsSync(join(root, "dist"))) return build;
  logProgress(`checking out and building ${described.commit}`);
  git("worktree", "prune");
  if (!existsSync(root)) git("worktree", "add", "--quiet", "--detach", root, ref);
  const hasSameLock =
    readFileSync(join(root, "package-lock.json"), "utf8") ===
    readFileSync(join(CHECKOUT_ROOT, "package-lock.json"), "utf8");
  if (!existsSync(join(root, "node_modules"))) {
    if (hasSameLock) symlinkSync(join(CHECKOUT_ROOT, "node_modules"), join(root, "node_modules"));
    else runNpm(root, "ci", "--no-audit", "--no-fund", "--loglevel=error");
  }
  runNpm(root, "run", "-s", "build");
  return build;
}

function describeCommit(ref: string, suffix: string): Pick<Build, "commit" | "date"> {
  const [commit = "", date = ""] = git("log", "-1", "--format=%h %cs", "--abbrev=8", ref).split(" ");
  return { commit: commit + suffix, date };
}

function git(...args: readonly string[]): string {
  return execFileSync("git", ["-C", CHECKOUT_ROOT, ...args], { encoding: "utf8" }).trim();
}

/** Runs npm with the Node of this process first in the PATH. */
function runNpm(cwd: string, ...args: readonly string[]): void {
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env["PATH"]}` };
  const { status, stdout, stderr } = spawnSync("npm", args, { cwd, env, encoding: "utf8" });
  if (status !== 0) throw new Error(`npm ${args.join(" ")} failed in ${cwd}:\n${stdout}${stderr}`);
}
