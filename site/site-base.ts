/**
 * Returns the path prefix of the published site from the variable `SITE_BASE`, such as `/colloquy/` on GitHub Pages. The
 * default is `/`. Throws if the prefix does not begin and end with a slash.
 */
export function readSiteBase(environment: Readonly<Record<string, string | undefined>>): string {
  const base = environment["SITE_BASE"] || "/";
  if (!base.startsWith("/") || !base.endsWith("/"))
    throw new Error(
      `SITE_BASE is "${base}". Use a path that begins and ends with a slash, such as /colloquy/.`,
    );
  return base;
}
