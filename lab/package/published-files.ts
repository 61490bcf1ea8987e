import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { listRelativeLinks } from "./absolute-links.ts";

/** Returns the scripts and declarations without a source map, and the maps whose sources are not in the package. */
export function findUnmappedFiles(packageFolder: string): string[] {
  return globSync("dist/**/*.{js,d.ts}", { cwd: packageFolder }).flatMap((file) => {
    const map = join(packageFolder, `${file}.map`);
    // The bundler's own helpers have no source.
    if (/rolldown-runtime/.test(file)) return [];
    if (!existsSync(map)) return [`${file} has no source map.`];
    const { sources } = JSON.parse(readFileSync(map, "utf8")) as { sources: string[] };
    return sources
      .filter((source) => !source.includes("node_modules/"))
      .filter((source) => !existsSync(join(dirname(map), source)))
      .map((source) => `${file}.map refers to ${source}, which is not in the package.`);
  });
}

/** Returns the links of the pages in the package to files that are not in the package. */
export function findUnpublishedLinks(packageFolder: string): string[] {
  return globSync("**/*.md", { cwd: packageFolder }).flatMap((file) => {
    const page = readFileSync(join(packageFolder, file), "utf8");
    return listRelativeLinks(page)
      .filter((link) => !existsSync(join(packageFolder, normalize(join(dirname(file), link)))))
      .map(
        (link) => `${file} links to ${link}, which is not in the package. Set repository in package.json.`,
      );
  });
}
