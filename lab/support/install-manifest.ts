import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runProgramOrExit } from "./run-program.ts";

const repositoryRoot = fileURLToPath(new URL("../..", import.meta.url));
const FILES = ["package.json", "package-lock.json"];

/**
 * Installs the packages of a `package.json` that is separate from the main one, so that `npm ci` stays small. Installs
 * once for each version of the files. Returns the folder that contains `node_modules`. Exits if npm fails.
 */
export function installManifest(name: string, manifestFolder: string): string {
  const folder = join(repositoryRoot, "node_modules/.cache", `colloquy-${name}`);
  const mark = join(folder, "installed.txt");
  const files = FILES.map((file) => join(repositoryRoot, manifestFolder, file)).filter((file) =>
    existsSync(file),
  );
  const content = files.map((file) => readFileSync(file, "utf8")).join("\n");
  if (existsSync(mark) && readFileSync(mark, "utf8") === content) return folder;
  console.error(`Installing the packages of ${manifestFolder} …`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const file of files) cpSync(file, join(folder, file.slice(file.lastIndexOf("package"))));
  const verb = files.length === FILES.length ? "ci" : "install";
  runProgramOrExit("npm", [verb, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: folder,
  });
  writeFileSync(mark, content);
  return folder;
}
