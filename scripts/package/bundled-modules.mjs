/**
 * Saves the folders of the packages whose code a bundle contains, from the bundler's list of module ids.
 * `scripts/package/` makes THIRD_PARTY_NOTICES and the SBOM from these lists. This file is plain JavaScript, because
 * `scripts/setup.mjs` also bundles the page on Node.js versions that strip no types.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = join(root, "node_modules/.cache/colloquy-bundles");

/**
 * @param {string} bundle
 * @param {Iterable<string>} moduleIds
 */
export function saveBundledPackages(bundle, moduleIds) {
  mkdirSync(folder, { recursive: true });
  const text = JSON.stringify(listPackageFolders(moduleIds), undefined, 2);
  writeFileSync(join(folder, `${bundle}.json`), `${text}\n`);
}

/**
 * Returns the folders in node_modules, relative to the repository.
 *
 * @param {Iterable<string>} moduleIds
 */
export function listPackageFolders(moduleIds) {
  const modules = [...moduleIds]
    .map((id) => relative(root, id).split(sep).join("/"))
    .filter((path) => path.startsWith("node_modules/"));
  return [...new Set(modules.map(findPackageFolder))].sort();
}

/**
 * Some packages have a package.json without a name in a folder of their modules.
 *
 * @param {string} module
 */
function findPackageFolder(module) {
  for (let path = dirname(module); path !== "."; path = dirname(path)) {
    const file = join(root, path, "package.json");
    if (!existsSync(file)) continue;
    const { name, version } = JSON.parse(readFileSync(file, "utf8"));
    if (name !== undefined && version !== undefined) return path;
  }
  throw new Error(`${module} belongs to no package.`);
}
