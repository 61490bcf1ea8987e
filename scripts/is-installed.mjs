import { readFileSync } from "node:fs";

/**
 * Returns whether node_modules of a folder contains every package of its lock file in the right version. Optional
 * packages are not checked, because they depend on the machine. It is plain JavaScript, because `setup.mjs` runs on Node
 * versions that strip no types.
 *
 * @param {string} folder
 */
export function isInstalled(folder) {
  const installed = readPackages(`${folder}/node_modules/.package-lock.json`);
  const locked = Object.entries(readPackages(`${folder}/package-lock.json`));
  return locked.every(
    ([path, { version, optional }]) =>
      path === "" || optional === true || installed[path]?.version === version,
  );
}

/** @param {string} file */
function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages;
  } catch {
    return {};
  }
}
