import { existsSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { getPackageFolder } from "../package-version.ts";

/** The parts of package.json and of npm's lock file that determine a dependency. */
interface PackageManifest {
  readonly version?: string;
  readonly packages?: Readonly<Record<string, { readonly resolved?: string }>>;
}

/**
 * Returns the value for `dependencies` in package.json that installs the running copy of Colloquy. The value is a
 * version range if npm installed the running copy from a registry. For a tarball, the value is its address. Without
 * npm's lock file, which global installations and other tools do not write, the value is a version range if the
 * running copy is in `node_modules`. For a clone, the value is the address of its tarball, or its path if
 * `npm run lab -- package` has not created the tarball.
 */
export function findInstallableDependency(packageFolder: string = getPackageFolder()): string {
  const { version } = readManifest(join(packageFolder, "package.json"));
  const modulesFolder = dirname(packageFolder);
  const lock = readManifest(join(modulesFolder, ".package-lock.json"));
  const resolved = lock.packages?.["node_modules/colloquy"]?.resolved;
  if (resolved === undefined) {
    if (isInNodeModules(packageFolder)) return `^${version}`;
    // npm links a folder, and a linked copy would use the peer packages of the clone instead of those of the project.
    const tarball = join(packageFolder, `reports/package/colloquy-${version}.tgz`);
    return toFileAddress(existsSync(tarball) ? tarball : packageFolder);
  }
  if (/^https?:.*\/-\/colloquy-[^/]+\.tgz$/.test(resolved)) return `^${version}`;
  if (!resolved.startsWith("file:")) return resolved;
  // npm writes paths relative to the folder that contains node_modules.
  return toFileAddress(resolve(dirname(modulesFolder), resolved.slice("file:".length)));
}

/** Returns whether a folder is in `node_modules`, also without symbolic links, which `npm link` creates. */
function isInNodeModules(folder: string): boolean {
  return basename(dirname(realpathSync(folder))) === "node_modules";
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
