/** Where and how a version is published. */
export interface PublishRun {
  readonly packageFolder: string;
  readonly isDryRun: boolean;
  /** Whether the command runs in GitHub Actions, where npm can sign the provenance. */
  readonly isInWorkflow: boolean;
}

/** Returns the arguments of npm that publish the package. */
export function createPublishArguments({ packageFolder, isDryRun, isInWorkflow }: PublishRun): string[] {
  const publish = ["publish", packageFolder, "--access", "public"];
  // Without `--force`, the dry run of npm fails for a version that npm already has. Pull requests keep that version.
  // `npm run lab -- release` reports the version before it starts npm.
  if (isDryRun) return [...publish, "--dry-run", "--force"];
  return isInWorkflow ? [...publish, "--provenance"] : publish;
}

/**
 * Returns the reasons why this machine must not publish. A person publishes the first version, because npm accepts a
 * trusted publisher only for a package that exists.
 */
export function listPublisherMachineProblems(
  isInWorkflow: boolean,
  publishedVersions: readonly string[],
): string[] {
  return isInWorkflow || publishedVersions.length === 0
    ? []
    : [
        "Only the workflow Release can publish after the first version, because npm signs the provenance with its identity.",
      ];
}
