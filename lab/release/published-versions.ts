/**
 * Returns the versions in the output of `npm view NAME versions --json`: none if the registry does not know the package,
 * and `undefined` if npm failed for another reason.
 */
export function parsePublishedVersions({
  status,
  stdout,
}: {
  readonly status: number | null;
  readonly stdout: string;
}): string[] | undefined {
  try {
    const output = JSON.parse(stdout) as string | string[] | { error?: { code?: string } };
    if (status === 0) return [output as string | string[]].flat();
    return (output as { error?: { code?: string } }).error?.code === "E404" ? [] : undefined;
  } catch {
    return undefined;
  }
}
