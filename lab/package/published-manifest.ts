import type { Publisher } from "./publisher.ts";

type Manifest = Readonly<Record<string, unknown>>;

/** Members of package.json that only matter in the repository. */
const REPOSITORY_MEMBERS = new Set(["allowScripts", "devDependencies", "private", "scripts"]);

/**
 * Returns the package.json of the published package. Without a repository URL, its links are left out. `npm run lab -- release`
 * compares `gitHead`, which npm also shows, with the commit of the work tree.
 */
export function createPublishedManifest(
  manifest: Manifest,
  publisher: Publisher,
  gitHead?: string,
): Manifest {
  const { repository, homepage, author } = publisher;
  const published = Object.entries(manifest).filter(([member]) => !REPOSITORY_MEMBERS.has(member));
  return {
    ...Object.fromEntries(published),
    ...(gitHead === undefined ? {} : { gitHead }),
    ...(author === "" ? {} : { author }),
    ...(repository === ""
      ? {}
      : {
          repository: { type: "git", url: `git+${repository}.git` },
          homepage: homepage === "" ? `${repository}#readme` : homepage,
          bugs: { url: `${repository}/issues` },
        }),
  };
}
