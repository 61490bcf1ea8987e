/**
 * Saves the modules of other packages that a bundle contains, from the bundler's list of module ids.
 * `scripts/package/` makes THIRD_PARTY_NOTICES and the SBOM from these lists. This file is plain JavaScript, because
 * `scripts/setup.mjs` also bundles the page on Node.js versions that strip no types.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = join(root, "node_modules/.cache/colloquy-bundles");

/**
 * @param {string} bundle
 * @param {Iterable<string>} moduleIds
 */
export function saveBundledModules(bundle, moduleIds) {
  const modules = [...moduleIds]
    .map((id) => relative(root, id).split(sep).join("/"))
    .filter((path) => path.startsWith("node_modules/"));
  mkdirSync(folder, { recursive: true });
  const text = JSON.stringify([...new Set(modules)].toSorted(), undefined, 2);
  writeFileSync(join(folder, `${bundle}.json`), `${text}\n`);
}
