/**
 * The last step of the build. It bundles the command line, and the modules that it needs to contact an agent,
 * into a few files (docs/decisions/038-package-and-command-line.md has the measurements). Folders that agent files
 * also import stay separate.
 */
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { loadWithSourceMap } from "./load-with-source-map.mjs";
import { saveBundledPackages } from "./bundled-modules.mjs";

const dist = fileURLToPath(new URL("../dist/", import.meta.url));
const cli = join(dist, "cli");
/** Files that the bundles contain. gRPC and the data structures stay separate. */
const BUNDLED_FILES = /^(?:cli|client|wire(?!\/grpc)|protocol(?!\/error\.js$)|base\/usage-checks)\//;
const PACKAGES = new Set(["commander", "eventsource-parser", "canonicalize", "js-yaml"]);

const bundle = await rolldown({
  input: { main: join(cli, "main.js") },
  platform: "node",
  external: (id) => /^[a-z@]/i.test(id) && !isAbsolute(id) && !PACKAGES.has(id),
  plugins: [{ name: "rooms", resolveId: resolveRoom, load: loadWithSourceMap }],
});
const { output } = await bundle.write({
  dir: cli,
  sourcemap: true,
  entryFileNames: "[name].js",
  chunkFileNames: "[name]-[hash].js",
  // Most commands need only this one file.
  codeSplitting: { groups: [{ name: "shared", minShareCount: 10 }] },
});
await bundle.close();
// The replacement keeps the lines of the code, so that the source maps stay correct.
for (const { fileName, type, code } of output)
  if (type === "chunk") {
    const mapComment = `//# sourceMappingURL=${fileName}.map`;
    const own = withBuiltins(code)
      .replace(/^\/\/# sourceMappingURL=.*$/m, "")
      .trimEnd();
    writeFileSync(join(cli, fileName), `${own}\n${mapComment}\n`);
  }

saveBundledPackages(
  "cli",
  output.flatMap(({ moduleIds = [] }) => moduleIds),
);
const written = new Set(output.map(({ fileName }) => fileName));
if (output.some(({ code }) => code?.includes("class A2AError")))
  throw new Error("The bundle contains A2AError. Add its file to the external modules in `resolveRoom`.");
for (const name of readdirSync(cli)) if (!written.has(name)) rmSync(join(cli, name), { recursive: true });

/**
 * Keeps other folders and the error class external. With a second copy of the class in the bundle,
 * `instanceof` would not match errors thrown by other folders.
 */
async function resolveRoom(id, importer, options) {
  const found = await this.resolve(id, importer, { ...options, skipSelf: true });
  if (!found?.id.startsWith(dist)) return found;
  const path = relative(dist, found.id).split(sep).join("/");
  return BUNDLED_FILES.test(path) ? found : { id: `../${path}`, external: true };
}

/**
 * An `import` of a Node module evaluates all its exports: `process` opens three streams, and `http` loads
 * `fetch`. `getBuiltinModule` loads only the members that are used.
 */
function withBuiltins(code) {
  return code.replaceAll(
    /^import (?:([\w$]+)(?:, )?)?(\{.*\})? from "(node:[^"]+)";$/gm,
    (_, own, some, module) => {
      const got = `globalThis.process.getBuiltinModule("${module}")`;
      // commander uses `spawn` only for commands that are separate programs, and this program has none.
      if (module === "node:child_process")
        return `const ${own} = { spawn: (...args) => ${got}.spawn(...args) };`;
      const names = [own, some?.replaceAll(" as ", ": ")].filter(Boolean);
      return `const ${names.map((name) => `${name} = ${got}`).join(", ")};`;
    },
  );
}
