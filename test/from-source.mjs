/**
 * `node --import ./test/from-source.mjs …` redirects imports of built files to `src/`. So tests of the
 * command line and of the examples need no build and never use an outdated one.
 */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";

const root = new URL("..", import.meta.url);
const { name, exports } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));
const dist = new URL("dist/", root).href;

registerHooks({
  resolve(specifier, context, nextResolve) {
    const url = targetOf(specifier, context.parentURL);
    if (!url?.startsWith(dist)) return nextResolve(specifier, context);
    const source = url.slice(dist.length).replace(/\.js$/, ".ts");
    return nextResolve(new URL(`src/${source}`, root).href, context);
  },
});

/**
 * Resolves a specifier: the package's own name through its exports, and a relative path from its importer.
 */
function targetOf(specifier, parent) {
  if (specifier === name || specifier.startsWith(`${name}/`)) {
    const target = exports[`.${specifier.slice(name.length)}`];
    return target?.default && new URL(target.node ?? target.default, root).href;
  }
  return /^\.\.?\//.test(specifier) && parent ? new URL(specifier, parent).href : undefined;
}
