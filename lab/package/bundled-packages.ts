import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const repositoryRoot = fileURLToPath(new URL("../..", import.meta.url));
/** `bundled-modules.mjs` writes the lists to this folder. */
const LISTS_FOLDER = join(repositoryRoot, "node_modules/.cache/colloquy-bundles");
const BUNDLES = ["dist", "page"] as const;

/** Returns the folders of the packages whose code is in one of the bundles of the last build. */
export function listBundledPackageFolders(): string[] {
  const folders = BUNDLES.flatMap((bundle) => {
    const file = join(LISTS_FOLDER, `${bundle}.json`);
    if (!existsSync(file)) throw new Error(`There is no list of the packages in the bundle "${bundle}".`);
    return JSON.parse(readFileSync(file, "utf8")) as string[];
  });
  return [...new Set(folders)].toSorted();
}

/** Returns the names of the packages in the build, according to the comments of the bundler. */
export function listBundledPackageNames(distFolder: string): string[] {
  const names = globSync("**/*.js", { cwd: distFolder }).flatMap((file) =>
    [
      ...readFileSync(join(distFolder, file), "utf8").matchAll(
        /^\/\/ (?:.*\/)?node_modules\/((?:@[^/\n]+\/)?[^/\n]+)/gm,
      ),
    ].map(([, name = ""]) => name),
  );
  return [...new Set(names)].toSorted();
}
