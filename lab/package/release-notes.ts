/** Returns the section of a version in CHANGELOG.md, without its heading. Throws if there is none. */
export function findReleaseNotes(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => /^\S+/.exec(text)?.[0] === version);
  if (section === undefined) throw new Error(`CHANGELOG.md has no section "## ${version}".`);
  return `${section.replace(/^.*\n/, "").trim()}\n`;
}
