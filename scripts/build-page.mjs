/**
 * `node scripts/build-page.mjs` bundles `src/studio/pages/` as strings: `console-page-bundle.ts` contains the script of
 * a console, `record-page-bundle.ts` the script of one-file exports and watched records, `worker-page-bundle.ts` the
 * script of the worker of both pages, and `page-bundle.ts` the style. Git ignores these files. With `--if-stale`, the
 * script does nothing while the files are newer than all their inputs. It is plain JavaScript, because
 * `scripts/setup.mjs` also runs it on Node versions that strip no types.
 */
import { createHash } from "node:crypto";
import {
  existsSync,
  globSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { listPackageFolders, saveBundledPackages } from "./bundled-modules.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const pages = join(root, "src/studio/pages");
const MAX_GZIPPED_SCRIPT_BYTES = 120_000;
const ENTRIES = {
  console: { constant: "CONSOLE_SCRIPT", input: "app/console-main.tsx", format: "esm" },
  record: { constant: "RECORD_SCRIPT", input: "app/record-main.tsx", format: "esm" },
  // Browsers start classic workers in pages of files, too.
  worker: { constant: "WORKER_SCRIPT", input: "worker/worker-main.ts", format: "iife" },
};
const styleBundle = join(pages, "page-bundle.ts");

if (!process.argv.includes("--if-stale") || isStale()) await writeBundles();

/** Returns whether an input is newer than the bundles, or was removed. `page-bundle.ts` is written last. */
function isStale() {
  if (!existsSync(styleBundle) || Object.keys(ENTRIES).some((name) => !existsSync(getScriptBundle(name))))
    return true;
  const [firstLine] = readFileSync(styleBundle, "utf8").split("\n", 1);
  const inputs = /^\/\/ inputs: (.*)$/.exec(firstLine)?.[1];
  if (inputs === undefined) return true;
  const { mtimeMs } = statSync(styleBundle);
  const files = [...JSON.parse(inputs), ...listStyleFiles(), "scripts/build-page.mjs", "package-lock.json"];
  return files.some((file) => !existsSync(join(root, file)) || statSync(join(root, file)).mtimeMs > mtimeMs);
}

function getScriptBundle(name) {
  return join(pages, `${name}-page-bundle.ts`);
}

async function writeBundles() {
  /** @type {Set<string>} */
  const modules = new Set();
  for (const [name, { constant, input, format }] of Object.entries(ENTRIES)) {
    const bundle = await bundleScript(join(pages, input), format, name === "console");
    for (const module of bundle.modules) modules.add(module);
    const gzipped = gzipSync(bundle.code, { level: 9 }).length;
    console.error(`page: ${name} script ${gzipped} bytes gzipped`);
    if (gzipped > MAX_GZIPPED_SCRIPT_BYTES)
      throw new Error(`The ${name} script exceeds its limit of ${MAX_GZIPPED_SCRIPT_BYTES} gzipped bytes.`);
    writeModule(getScriptBundle(name), "", {
      [constant]: bundle.code,
      [`${constant}_SHA256`]: computeSha256(bundle.code),
    });
  }
  const style = listStyleFiles()
    .map((file) => minifyStyle(readFileSync(join(root, file), "utf8")))
    .join("\n");
  const moduleIds = [...modules].map((file) => join(root, file));
  saveBundledPackages("page", moduleIds);
  const inputs = [...modules].filter((file) => !file.startsWith("node_modules/")).toSorted();
  writeModule(styleBundle, `// inputs: ${JSON.stringify(inputs)}\n`, {
    PAGE_STYLE: style,
    PAGE_STYLE_SHA256: computeSha256(style),
    PAGE_NOTICES: renderNotices(listPackageFolders(moduleIds)),
  });
}

/** Replaces a file at once, because a test process may read it at the same time. */
function writeModule(file, head, constants) {
  const lines = Object.entries(constants).map(
    ([name, value]) => `export const ${name}: string = ${JSON.stringify(value)};\n`,
  );
  const draft = `${file}.${process.pid}`;
  writeFileSync(
    draft,
    `${head}/** Made by \`node scripts/build-page.mjs\` from \`src/studio/pages/\`. Git ignores this file. */\n${lines.join("")}`,
  );
  renameSync(draft, file);
}

/** The script of records sends no requests, so that it omits the forms for messages and credentials. */
async function bundleScript(input, format, sendsRequests) {
  const build = await rolldown({
    input,
    platform: "browser",
    tsconfig: false,
    transform: {
      jsx: { runtime: "automatic", importSource: "preact" },
      define: {
        "process.env.NODE_ENV": '"production"',
        PAGE_SENDS_REQUESTS: String(sendsRequests),
      },
    },
    // Packages such as @preact/signals install hooks when they are loaded. Our own modules do not.
    treeshake: {
      moduleSideEffects: (id) => /node_modules.@?preact/.test(id) || id === input,
      // The package diff creates an object for each kind of comparison. The page uses two kinds.
      manualPureFunctions: ["WordDiff"],
    },
    plugins: [{ name: "reduced-modules", load: loadReducedModule }],
  });
  const { output } = await build.generate({ format, minify: true, comments: false });
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

/**
 * Our own modules import the bundles of an earlier build, through the rooms that render pages in Node.js. The compiler
 * checks the options of all calls in a page, so that a page omits the checks of options at run time.
 */
function loadReducedModule(id) {
  if (id.endsWith("page-bundle.ts")) return "export {};";
  return id.endsWith("usage-checks/option-names.ts")
    ? "export const defineOptionNames = () => () => () => {}; export const pickOptions = (options) => options;"
    : undefined;
}

/** The shared styles first, and then the styles of the screens. */
function listStyleFiles() {
  const files = globSync("src/studio/pages/**/*.css", { cwd: root }).toSorted();
  return [...files.filter(isSharedStyle), ...files.filter((file) => !isSharedStyle(file))];
}

function isSharedStyle(file) {
  return /src.studio.pages.style/.test(file);
}

function minifyStyle(css) {
  return css
    .replaceAll(/\/\*[^]*?\*\//g, "")
    .replaceAll(/\s*\n\s*/g, "\n")
    .trim();
}

/** Returns the copyright notices of the bundled packages, and the text of the MIT license once. */
function renderNotices(folders) {
  const notices = folders.map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    const text = readLicense(folder);
    const copyright = text.split("\n").filter((line) => /^\s*copyright\b/i.test(line));
    if (!/Apache-2\.0/.test(license) && copyright.length === 0)
      throw new Error(`${name} has no copyright notice, which the license ${license} requires.`);
    if (license === "MIT")
      return `${name} ${version} (MIT): ${copyright.map((line) => line.trim()).join(" ")}`;
    // The notice of this license must be complete.
    if (license === "BSD-3-Clause") return `${name} ${version} (BSD-3-Clause): ${text.trim()}`;
    if (/Apache-2\.0/.test(license))
      return `${name} ${version} (Apache-2.0, apache.org/licenses/LICENSE-2.0)`;
    throw new Error(`${name} has the license ${license}. Check whether the page may contain it.`);
  });
  const mit = readLicense("node_modules/preact")
    .split("\n")
    .filter((line) => !/copyright \(c\)|^the mit license/i.test(line));
  return ["This script contains:", ...notices, "", "The MIT License:", mit.join("\n").trim()]
    .join("\n")
    .replaceAll("--", "- -");
}

function readLicense(folder) {
  const name = readdirSync(join(root, folder)).find((file) => /^licen[cs]e/i.test(file));
  return name === undefined ? "" : readFileSync(join(root, folder, name), "utf8");
}

function computeSha256(text) {
  return createHash("sha256").update(text).digest("base64");
}
