/**
 * Returns whether a version is in a range of npm. The function knows the forms that package.json of this package has:
 * `^`, `>=`, `<`, and exact versions, spaces for and, and `||` for or. A pre-release counts as its release.
 */
export function satisfiesRange(version: string, range: string): boolean {
  return range.split("||").some((part) =>
    part
      .trim()
      .split(/\s+/)
      .every((bound) => satisfiesBound(version, bound)),
  );
}

function satisfiesBound(version: string, bound: string): boolean {
  const [operator = ""] = /^(?:\^|>=|<)?/.exec(bound) ?? [];
  const [found, wanted] = [toNumbers(version), toNumbers(bound.slice(operator.length))];
  const at = found.findIndex((number, index) => number !== wanted[index]);
  const order = at < 0 ? 0 : (found[at] ?? 0) - (wanted[at] ?? 0);
  if (operator === "<") return order < 0;
  // The numbers until the first that is not 0 must stay the same.
  const fixed = wanted.findIndex((number) => number > 0);
  return order >= 0 && (operator === ">=" || (operator === "^" ? at < 0 || at > fixed : at < 0));
}

function toNumbers(version: string): number[] {
  const [major = 0, minor = 0, patch = 0] = version.split(/[-+]/, 1)[0]?.split(".").map(Number) ?? [];
  return [major, minor, patch];
}
