import { existsSync, readFileSync } from "node:fs";

/**
 * The `load` hook of a bundler's plugin: loads a file that TypeScript has compiled together with its source map, so that
 * the map of the bundle refers to the TypeScript sources.
 *
 * @param {string} id
 */
export function loadWithSourceMap(id) {
  if (!existsSync(`${id}.map`)) return undefined;
  const code = readFileSync(id, "utf8").replace(/^\/\/# sourceMappingURL=.*$/m, "");
  return { code, map: JSON.parse(readFileSync(`${id}.map`, "utf8")) };
}
