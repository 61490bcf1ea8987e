/** The facts that decide whether a version can be published. */
export interface ReleaseState {
  readonly version: string;
  /** Problems of publisher.json. */
  readonly publisherProblems: readonly string[];
  /** Version of the package that `npm run package` has built, or `undefined` if there is none. */
  readonly builtVersion: string | undefined;
  /** Whether the built package has the links of publisher.json. */
  readonly hasLinks: boolean;
  readonly changelog: string;
  /** Names of the changesets that no version contains yet. */
  readonly pendingChangesets: readonly string[];
  /** Output of `git status --porcelain`. */
  readonly changedFiles: string;
  readonly branch: string;
  /** Versions in the registry. */
  readonly publishedVersions: readonly string[];
}

/** Returns the reasons why the version must not be published, each with its remedy. */
export function listReleaseProblems(state: ReleaseState): string[] {
  const { version, builtVersion, changelog, pendingChangesets, changedFiles, branch } = state;
  const heading = changelog.split("\n").find((line) => line.split(" ")[1] === version);
  const problems: (string | false)[] = [
    ...state.publisherProblems,
    builtVersion !== version && `.tmp/package has version ${builtVersion}: run npm run package.`,
    !state.hasLinks && "The built package has no links: fill in publisher.json, and run npm run package.",
    heading !== `## ${version}` &&
      `CHANGELOG.md has no heading "## ${version}": run npm run release:version, or remove "(unreleased)".`,
    pendingChangesets.length > 0 &&
      `.changeset contains ${pendingChangesets.join(", ")}: merge the pull request of the next version first.`,
    changedFiles.trim() !== "" && `The work tree has changes: commit them.\n${changedFiles.trimEnd()}`,
    branch !== "main" && `The branch is ${branch}: releases are made from main.`,
    state.publishedVersions.includes(version) &&
      `npm already has version ${version}: npm never replaces a version.`,
  ];
  return problems.filter((problem) => problem !== false);
}
