import { isDistributable } from "./third-party-notices.ts";

/** The members of an entry in package-lock.json that are read here. */
export interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
}

/** Licenses of tools that we run, and do not distribute. */
const TOOL_LICENSES = new Set(["BlueOak-1.0.0", "MPL-2.0", "Python-2.0"]);

/** Packages whose license is not in their package.json. */
const LICENSES_ELSEWHERE: ReadonlyMap<string, string> = new Map([["format", "MIT"]]);

/**
 * Returns the packages of a lock file with an unacceptable license. A package that users install with ours, or whose code
 * is in our files, needs a permissive license.
 *
 * @param isDistributed Returns whether our files contain code of the package at a path of the lock file.
 */
export function findLicenseProblems(
  packages: Readonly<Record<string, LockedPackage>>,
  isDistributed: (path: string) => boolean,
): string[] {
  return Object.entries(packages).flatMap(([path, locked]) => {
    if (path === "") return [];
    const name = path.replace(/^.*node_modules\//, "");
    const license = locked.license ?? LICENSES_ELSEWHERE.get(name) ?? findLicenseOfFamily(path, packages);
    if (license !== undefined && isDistributable(license)) return [];
    const title = `${name} ${locked.version} has ${license === undefined ? "no license" : `the license ${license}`}`;
    if (license === undefined || !isForTools(license)) return [`${title}. Use another package.`];
    return locked.dev === true && !isDistributed(path) ? [] : [`${title}, which is only for tools.`];
  });
}

/**
 * npm does not know the license of a program for another platform. It is that of the same version for this platform.
 */
function findLicenseOfFamily(
  path: string,
  packages: Readonly<Record<string, LockedPackage>>,
): string | undefined {
  const { optional, version } = packages[path] ?? {};
  const scope = path.slice(0, path.lastIndexOf("/") + 1);
  if (optional !== true || !scope.includes("@")) return undefined;
  return Object.entries(packages).find(
    ([other, locked]) =>
      other.startsWith(scope) && locked.version === version && locked.license !== undefined,
  )?.[1].license;
}

function isForTools(license: string): boolean {
  return TOOL_LICENSES.has(license.trim());
}
