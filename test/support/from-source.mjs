/**
 * `node --import ./test/support/from-source.mjs …` redirects imports of built files to `src/`, or to the bundle that
 * `test/support/bundle-for-test-processes.ts` has made from `src/`. So tests of the command line and of the examples need no
 * build and never use an outdated one. Imports of large packages are redirected to the bundle of
 * `test/support/bundle-packages.ts`.
 */
import { existsSync, readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

const root = new URL("../..", import.meta.url);
const { name, exports } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));
const dist = new URL("dist/", root).href;
const nodeModules = new URL("node_modules/", root).href;
const bundle = findFolder(process.env.COLLOQUY_TEST_BUNDLE);
const packages = findFolder(process.env.COLLOQUY_TEST_PACKAGES);
const packageEntries = new Map(
  packages && Object.entries(JSON.parse(readFileSync(new URL("entries.json", packages), "utf8"))),
);

registerHooks({
  resolve(specifier, context, nextResolve) {
    const url = targetOf(specifier, context.parentURL);
    if (!url?.startsWith(dist)) {
      const found = nextResolve(specifier, context);
      const entry = packageEntries.get(specifier);
      if (!entry) return found;
      // Programs in folders without the package, and packages with another version of it, do not load the bundle.
      const [packageName] = /^(?:@[^/]+\/)?[^/]+/.exec(specifier);
      const isHoisted = found.url.startsWith(`${nodeModules}${packageName}/`);
      return isHoisted ? nextResolve(new URL(entry, packages).href, context) : found;
    }
    const path = url.slice(dist.length);
    const target = bundle
      ? new URL(path.replace("/", "-"), bundle)
      : new URL(`src/${path.replace(/\.js$/, ".ts")}`, root);
    return nextResolve(target.href, context);
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

function findFolder(path) {
  return path && existsSync(path) ? pathToFileURL(`${path}/`) : undefined;
}
