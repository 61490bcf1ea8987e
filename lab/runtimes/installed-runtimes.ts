import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

export const repositoryRoot: string = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Installs the packages of a manifest in a folder of `node_modules/.cache`, unless the folder contains them. Returns the
 * folder. The development dependencies therefore stay small.
 */
export function installManifest(manifest: string, cacheName: string): string {
  const folder = join(repositoryRoot, "node_modules/.cache", cacheName);
  const mark = join(folder, "installed.json");
  const wanted = readFileSync(join(repositoryRoot, manifest), "utf8");
  if (existsSync(mark) && readFileSync(mark, "utf8") === wanted) return folder;
  console.log(`Installing the packages of ${manifest} …`);
  mkdirSync(folder, { recursive: true });
  copyFileSync(join(repositoryRoot, manifest), join(folder, "package.json"));
  const args = ["install", "--no-audit", "--no-fund", "--loglevel=error"];
  const { status } = spawnSync("npm", args, { cwd: folder, stdio: "inherit" });
  if (status !== 0) throw new Error(`npm install failed for ${manifest}; check the network and try again.`);
  writeFileSync(mark, wanted);
  return folder;
}

/** A runtime that executes a module file as a program. */
export interface ProcessRuntime {
  readonly name: string;
  /** The program and its arguments before the file. */
  readonly command: readonly string[];
}

/** Returns the runtimes of a folder that `installManifest` has filled. */
export function listProcessRuntimes(folder: string): ProcessRuntime[] {
  const nodeIn = (packageName: string): string => join(folder, "node_modules", packageName, "bin/node");
  return [
    { name: "Node.js 22.18", command: [nodeIn("node-22.18"), "--disable-warning=ExperimentalWarning"] },
    { name: "Node.js 24", command: [process.execPath] },
    { name: "Node.js, newest", command: [nodeIn("node-newest")] },
    { name: "Bun", command: [join(folder, "node_modules/.bin/bun")] },
    { name: "Deno", command: [join(folder, "node_modules/.bin/deno"), "run", "--allow-all", "--quiet"] },
  ];
}

/** Returns the version that a runtime prints, without a name in front. */
export function readRuntimeVersion({ command }: ProcessRuntime): string {
  const [program = ""] = command;
  const { stdout } = spawnSync(program, ["--version"], { encoding: "utf8" });
  return /\d+\.\d+\.\d+/.exec(stdout ?? "")?.[0] ?? "not installed";
}
