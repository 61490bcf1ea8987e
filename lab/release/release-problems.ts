/** The facts that decide whether a version can be published. */
export interface ReleaseState {
  readonly version: string;
  /** URL of the repository, from package.json. */
  readonly repositoryUrl: string | undefined;
  readonly author: unknown;
  /** Version of the package that `npm run lab -- package` has built, or `undefined` if there is none. */
  readonly builtVersion: string | undefined;
  /** Commit of that package, or `undefined` if its work tree had changes. */
  readonly builtCommit: string | undefined;
  /** Commit of the work tree. */
  readonly commit: string;
  /** Whether the upstream branch has the commit. */
  readonly isPushed: boolean;
  readonly changelog: string;
  /** Names of the changesets that no version contains yet. */
  readonly pendingChangesets: readonly string[];
  /** Output of `git status --porcelain`. */
  readonly changedFiles: string;
  readonly branch: string;
  /** Versions in the registry, or `undefined` if the registry does not report them. */
  readonly publishedVersions: readonly string[] | undefined;
}

/** Returns the reasons why the version must not be published, each with its remedy. */
export function listReleaseProblems(state: ReleaseState): string[] {
  const { version, builtVersion, changelog, pendingChangesets, changedFiles, branch, publishedVersions } =
    state;
  const heading = changelog.split("\n").find((line) => line.split(" ")[1] === version);
  const problems: (string | false)[] = [
    state.repositoryUrl === undefined &&
      `package.json needs "repository": { "type": "git", "url": "git+https://github.com/OWNER/NAME.git" }.`,
    state.author === undefined && `package.json needs "author", such as "Ada Lovelace <ada@example.com>".`,
    builtVersion !== version && `.tmp/package has version ${builtVersion}: run npm run lab -- package.`,
    state.builtCommit !== state.commit &&
      `.tmp/package is not of commit ${state.commit}: commit all changes, and run npm run lab -- package.`,
    !state.isPushed && `The upstream branch lacks commit ${state.commit}: push it.`,
    heading !== `## ${version}` &&
      `CHANGELOG.md has no heading "## ${version}": run npm run lab -- release version, or remove "(unreleased)".`,
    pendingChangesets.length > 0 &&
      `.changeset contains ${pendingChangesets.join(", ")}: merge the pull request of the next version first.`,
    changedFiles.trim() !== "" && `The work tree has changes: commit them.\n${changedFiles.trimEnd()}`,
    branch !== "main" && `The branch is ${branch}: releases are made from main.`,
    publishedVersions === undefined &&
      "npm does not report the published versions: run npm view, and solve its problem.",
    publishedVersions?.includes(version) === true &&
      `npm already has version ${version}: npm never replaces a version.`,
  ];
  return problems.filter((problem) => problem !== false);
}
