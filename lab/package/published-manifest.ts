type Manifest = Readonly<Record<string, unknown>>;

/** Members of package.json that only matter in the repository. */
const REPOSITORY_MEMBERS = new Set(["allowScripts", "devDependencies", "private", "scripts"]);

/**
 * Returns the package.json of the published package. `npm run lab -- release` compares `gitHead`, which npm also shows, with
 * the commit of the work tree.
 */
export function createPublishedManifest(manifest: Manifest, gitHead?: string): Manifest {
  const published = Object.entries(manifest).filter(([member]) => !REPOSITORY_MEMBERS.has(member));
  return { ...Object.fromEntries(published), ...(gitHead === undefined ? {} : { gitHead }) };
}

/** Returns the URL in `repository` of package.json, such as `https://github.com/OWNER/NAME`. */
export function findRepositoryUrl({ repository }: Manifest): string | undefined {
  const { url } = (repository ?? {}) as { readonly url?: string };
  return /^git\+(https:\/\/[^/\s]+\/[^/\s]+\/[^/\s]+)\.git$/.exec(url ?? "")?.[1];
}
