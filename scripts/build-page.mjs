/**
 * `npm run page` bundles `src/pages/` into `src/pages/page-bundle.ts`, which holds the script and the style of the page
 * as strings. Git ignores the file. With `--if-stale`, the script does nothing while the file is newer than all its
 * inputs. It is plain JavaScript, because `scripts/setup.mjs` also runs it on Node versions that strip no types.
 */
import { createHash } from "node:crypto";
import { existsSync, globSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url));
const pages = join(root, "src/pages");
const target = join(pages, "page-bundle.ts");
const MAX_GZIPPED_SCRIPT_BYTES = 140_000;

if (!process.argv.includes("--if-stale") || isStale()) await writeBundle();

/** Returns whether an input is newer than the bundle, or was removed. */
function isStale() {
  if (!existsSync(target)) return true;
  const [firstLine] = readFileSync(target, "utf8").split("\n", 1);
  const inputs = /^\/\/ inputs: (.*)$/.exec(firstLine)?.[1];
  if (inputs === undefined) return true;
  const { mtimeMs } = statSync(target);
  const files = [...JSON.parse(inputs), ...listStyleFiles(), "scripts/build-page.mjs", "package-lock.json"];
  return files.some((file) => !existsSync(join(root, file)) || statSync(join(root, file)).mtimeMs > mtimeMs);
}

async function writeBundle() {
  const { code, modules } = await bundleScript();
  const script = `/*!\n${renderNotices(modules)}\n*/\n${code}`;
  const style = listStyleFiles()
    .map((file) => minifyStyle(readFileSync(join(root, file), "utf8")))
    .join("\n");
  const gzipped = gzipSync(script, { level: 9 }).length;
  if (gzipped > MAX_GZIPPED_SCRIPT_BYTES)
    throw new Error(`The script has ${gzipped} bytes gzipped. The limit is ${MAX_GZIPPED_SCRIPT_BYTES}.`);
  const inputs = modules.filter((file) => !file.startsWith("node_modules/"));
  const source = `// inputs: ${JSON.stringify(inputs)}
/** Made by \`npm run page\` from the folders of \`src/pages/\`. Git ignores this file. */
export const PAGE_SCRIPT: string = ${JSON.stringify(script)};
export const PAGE_SCRIPT_SHA256: string = ${JSON.stringify(computeSha256(script))};
export const PAGE_STYLE: string = ${JSON.stringify(style)};
export const PAGE_STYLE_SHA256: string = ${JSON.stringify(computeSha256(style))};
`;
  // A test process may read the file at the same time.
  const draft = `${target}.${process.pid}`;
  writeFileSync(draft, source);
  renameSync(draft, target);
  console.error(`page: script ${gzipped} bytes gzipped, style ${gzipSync(style).length} bytes gzipped`);
}

async function bundleScript() {
  const build = await rolldown({
    input: join(pages, "app/main.tsx"),
    platform: "browser",
    tsconfig: false,
    transform: {
      jsx: { runtime: "automatic", importSource: "preact" },
      define: { "process.env.NODE_ENV": '"production"' },
    },
    // Packages such as @preact/signals install hooks when they are loaded. Our own modules do not.
    treeshake: { moduleSideEffects: (id) => id.includes("node_modules") || id.endsWith("/app/main.tsx") },
  });
  const { output } = await build.generate({ format: "esm", minify: true, comments: false });
  await build.close();
  const [chunk, ...others] = output;
  if (others.length > 0) throw new Error("The page must be a single script. Remove its dynamic imports.");
  // Inside a `<script>` element, such text would end the script or start a comment.
  const code = chunk.code.trim().replaceAll(/<(?=\/script|!--|script)/gi, String.raw`\x3c`);
  const modules = chunk.moduleIds
    .map((id) => relative(root, id))
    .filter((file) => existsSync(join(root, file)))
    .toSorted();
  return { code, modules };
}

/** The shared styles first, and then the styles of the screens. */
function listStyleFiles() {
  const files = globSync("src/pages/**/*.css", { cwd: root }).toSorted();
  const isShared = (file) => /src.pages.style/.test(file);
  return [...files.filter(isShared), ...files.filter((file) => !isShared(file))];
}

function minifyStyle(css) {
  return css
    .replaceAll(/\/\*[^]*?\*\//g, "")
    .replaceAll(/\s*\n\s*/g, "\n")
    .trim();
}

/** Returns the copyright notices of the bundled packages, and the text of the MIT license once. */
function renderNotices(modules) {
  const folders = [
    ...new Set(modules.filter((file) => file.startsWith("node_modules/")).map(findPackageFolder)),
  ];
  const notices = folders.map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    const text = readLicense(folder);
    const copyright = text.split("\n").filter((line) => /^\s*copyright\b/i.test(line));
    if (license === "MIT") return `${name} ${version} (MIT): ${copyright.map((line) => line.trim()).join(" ")}`;
    if (/Apache-2\.0/.test(license)) return `${name} ${version} (Apache-2.0, apache.org/licenses/LICENSE-2.0)`;
    throw new Error(`${name} has the license ${license}. Check whether the page may contain it.`);
  });
  const mit = readLicense("node_modules/preact").replaceAll("*/", "").split("\n").filter((line) => !/copyright \(c\)|^the mit license/i.test(line));
  return ["This script contains:", ...notices, "", "The MIT License:", mit.join("\n").trim()].join("\n").replaceAll("*/", "");
}

function findPackageFolder(file) {
  let folder = dirname(file);
  while (!existsSync(join(root, folder, "package.json")) || !readPackageName(folder)) folder = dirname(folder);
  return folder;
}

/** Some packages have a nameless package.json in a folder of their modules. */
function readPackageName(folder) {
  const { name, version } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
  return version === undefined ? undefined : name;
}

function readLicense(folder) {
  const name = readdirSync(join(root, folder)).find((file) => /^licen[cs]e/i.test(file));
  return name === undefined ? "" : readFileSync(join(root, folder, name), "utf8");
}

function computeSha256(text) {
  return createHash("sha256").update(text).digest("base64");
}
