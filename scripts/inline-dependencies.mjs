/**
 * A step of the build: inlines packages that a single module needs, so that installing Colloquy does not install them.
 * The notice of the package's license goes with its code.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { loadWithSourceMap } from "./load-with-source-map.mjs";
import { saveBundledPackages } from "./bundled-modules.mjs";

const root = new URL("../", import.meta.url);
const INLINED = {
  "get-east-asian-width": "dist/cards/views/text-width.js",
  "@noble/hashes": "dist/base/data-structures/sha-256.js",
};

/** @type {string[]} */
const inlinedModules = [];
for (const [name, module] of Object.entries(INLINED)) {
  const file = fileURLToPath(new URL(module, root));
  if (!existsSync(file)) throw new Error(`${module} does not exist; name the module that imports ${name}.`);
  const isInlined = (id) => id === name || id.startsWith(`${name}/`) || id.includes(`/node_modules/${name}/`);
  const bundle = await rolldown({
    input: file,
    platform: "neutral",
    external: (id, importer) => importer === file && !isInlined(id),
    plugins: [{ name: "source-maps", load: loadWithSourceMap }],
  });
  const { output } = await bundle.generate({ format: "esm", file, sourcemap: true });
  await bundle.close();
  const [{ code, map, moduleIds }] = output;
  inlinedModules.push(...moduleIds);
  if (/from "[^"]*node_modules|from "(?!\.)/.test(code))
    throw new Error(`${module} still imports a package.`);
  const mapComment = `//# sourceMappingURL=${basename(file)}.map`;
  const ownCode = code.replace(/^\/\/# sourceMappingURL=.*$/m, "").trimEnd();
  writeFileSync(
    file,
    `${ownCode}\n/*\nThis file contains ${name}:\n\n${readLicense(name)}\n*/\n${mapComment}\n`,
  );
  writeFileSync(`${file}.map`, map.toString());
}
saveBundledPackages("inlined", inlinedModules);

function readLicense(name) {
  const folder = new URL(`node_modules/${name}/`, root);
  const file = readdirSync(folder).find((entry) => /^license$/i.test(entry));
  if (!file) throw new Error(`${name} has no license file.`);
  return readFileSync(new URL(file, folder), "utf8").trim();
}
