import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { getPackageFolder } from "../package-version.ts";

/** The parts of package.json and of npm's lock file that determine a dependency. */
interface PackageManifest {
  readonly version?: string;
  readonly packages?: Readonly<Record<string, { readonly resolved?: string }>>;
}

/**
 * Returns the value for `dependencies` in package.json that installs the running copy of Colloquy. The value is a
 * version range only if npm installed the running copy from a registry. Otherwise, the value is the address of the
 * tarball, or the path of the running copy.
 */
export function findInstallableDependency(packageFolder: string = getPackageFolder()): string {
  const { version } = readManifest(join(packageFolder, "package.json"));
  const modulesFolder = dirname(packageFolder);
  const lock = readManifest(join(modulesFolder, ".package-lock.json"));
  const resolved = lock.packages?.["node_modules/colloquy"]?.resolved;
  if (resolved === undefined) return toFileAddress(packageFolder);
  if (/^https?:.*\/-\/colloquy-[^/]+\.tgz$/.test(resolved)) return `^${version}`;
  if (!resolved.startsWith("file:")) return resolved;
  // npm writes paths relative to the folder that contains node_modules.
  return toFileAddress(resolve(dirname(modulesFolder), resolved.slice("file:".length)));
}

function readManifest(file: string): PackageManifest {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as PackageManifest;
  } catch {
    return {};
  }
}

function toFileAddress(path: string): string {
  return `file:${path.replaceAll("\\", "/")}`;
}
