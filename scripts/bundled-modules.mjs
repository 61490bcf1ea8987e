/**
 * Saves the folders of the packages whose code a bundle contains, from the bundler's list of module ids.
 * `lab/package/` makes THIRD_PARTY_NOTICES and the SBOM from these lists. This file is plain JavaScript, because
 * `scripts/setup.mjs` also bundles the page on Node.js versions that strip no types.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
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
 * @returns {string[]}
 */
export function listPackageFolders(moduleIds) {
  const folders = [...moduleIds].flatMap((id) => {
    const path = relative(root, id).split(sep).join("/");
    return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [];
  });
  return [...new Set(folders)].toSorted();
}
