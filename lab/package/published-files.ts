import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { listRelativeLinks } from "./absolute-links.ts";

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
