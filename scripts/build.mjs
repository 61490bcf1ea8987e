/**
 * `npm run build` writes `dist/` (or the folder that is its argument) from `src/`: one run of the bundler for the scripts of all package entries and of the
 * command line, and one for the types. Shared code is in shared chunks, so that each class exists once.
 * docs/decisions/038-package-and-command-line.md has the reasons and the measurements.
 */
import { readFileSync, rmSync } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { parseAst } from "rolldown/parseAst";
import { dts } from "rolldown-plugin-dts";
import { saveBundledPackages } from "./bundled-modules.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = resolve(root, process.argv[2] ?? "dist");
const { dependencies, exports, peerDependencies } = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
);
const entries = Object.values(exports).filter((entry) => typeof entry === "object");
/** Packages that users install. The build contains the code of all others, which are development dependencies. */
const installedPackages = new Set(Object.keys({ ...dependencies, ...peerDependencies }));
/**
 * The programs that load chunks at once, by the module with which they start. Programs of one kind share chunks: adapters,
 * entries that a server loads too, chats, and commands. The remaining entries are programs of their own.
 */
const PROGRAMS = [
  /^(entries\/)(?:a2a-js|ai-sdk|claude|langgraph|mastra|openai-agents)\./,
  /^(entries\/)(?:adk|auth|console|grpc|mcp|openai|testing)\./,
  /^(entries\/)(?:ui|ag-ui)/,
  /^(entries\/.+)\.ts$/,
  /^(cli\/main)\.ts$/,
  /^(cli)\//,
];

const inputs = listInputs([...entries.flatMap((entry) => [entry.node, entry.default]), "./dist/cli/main.js"]);
const scripts = await rolldown({
  input: inputs,
  external: (id) => id.startsWith("node:") || installedPackages.has(findPackageName(id)),
  preserveEntrySignatures: "allow-extension",
  plugins: [{ name: "pure-constants", transform: markConstantsAsPure }],
  checks: { ineffectiveDynamicImport: false },
});
const types = await rolldown({
  input: listInputs(entries.map((entry) => entry.types)),
  external: (id) => findPackageName(id) !== undefined,
  checks: { pluginTimings: false, bundlerTimings: false },
  plugins: [dts({ generator: "oxc", dtsOnly: true, tsconfig: false })],
});

const graph = createModuleGraph((await scripts.generate({ preserveModules: true })).output);
rmSync(dist, { recursive: true, force: true });
const { output } = await scripts.write({
  dir: dist,
  entryFileNames: "[name].js",
  chunkFileNames: "chunks/[name].js",
  // The types contain the docstrings.
  comments: { jsdoc: false },
  codeSplitting: { includeDependenciesRecursively: false, groups: [createChunkGroup()] },
});
await scripts.close();
await types.write({ dir: dist, entryFileNames: "[name].ts", chunkFileNames: "chunks/[name].ts" });
await types.close();
saveBundledPackages(
  "dist",
  output.flatMap(({ moduleIds = [] }) => moduleIds),
);

/** Returns the source of each built file by its name without extension. */
function listInputs(files) {
  const names = files
    .filter(Boolean)
    .map((file) => file.slice("./dist/".length).replace(/(?:\.d)?\.[jt]s$/, ""));
  return Object.fromEntries(names.map((name) => [name, join(root, "src", `${name}.ts`)]));
}

function findPackageName(id) {
  return isAbsolute(id) ? undefined : /^(?:@[^/]+\/)?[a-z][^/]*/i.exec(id)?.[0];
}

/**
 * Puts the modules that the same programs import at once into one chunk. So a program loads few files and no module that
 * it does not import, and chunks never import each other in a circle. A module that only one module loads stays with it.
 * Modules of programs that also run in browsers share no chunk with others, which may import modules of Node.js.
 */
function createChunkGroup() {
  const chunks = nameChunks();
  return { debugName: "programs", name: (id) => chunks.get(id) };
}

/** Returns the name of the chunk of each module that several modules load. */
function nameChunks() {
  const starts = Object.values(inputs);
  const lazyStarts = [...graph.values()].flatMap(({ loadedLater }) => loadedLater);
  /** @type {Map<string, string[]>} */
  const startsByModule = new Map();
  for (const start of new Set([...starts, ...lazyStarts]))
    for (const id of listModules(start, false))
      startsByModule.set(id, [...(startsByModule.get(id) ?? []), start]);
  const programs = starts.map((start) => [...listModules(start, true)]);
  const portable = new Set(programs.filter((ids) => !ids.some((id) => id.startsWith("node:"))).flat());

  /** @type {Map<string, string>} */
  const names = new Map();
  // A bundler for browsers keeps all of a file that is loaded later.
  const later = new Set(lazyStarts.filter((id) => portable.has(id)));
  const shared = [...startsByModule].filter(([id, { length }]) => length > 1 && !later.has(id));
  return new Map(
    shared.map(([id, ids]) => {
      const loading = new Set(ids.flatMap((start) => findProgram(start) ?? []));
      const packages = [...listModules(id, false)]
        .filter((name) => !isAbsolute(name) && !name.startsWith("node:"))
        .toSorted((a, b) => a.localeCompare(b));
      const key = [portable.has(id), packages, ...(loading.size > 0 ? loading : ids)].join();
      if (!names.has(key)) names.set(key, `${getSourcePath(id).split("/")[0]}-${names.size}`);
      return [id, names.get(key)];
    }),
  );
}

/** Returns the imports of each module that a build with a chunk per module contains, without the unused imports. */
function createModuleGraph(output) {
  const ids = new Map(output.map(({ fileName, facadeModuleId }) => [fileName, facadeModuleId]));
  const toIds = (files) => files.map((file) => ids.get(file) ?? file);
  return new Map(
    output.map(({ facadeModuleId, imports, dynamicImports }) => [
      facadeModuleId,
      { imports: toIds(imports), loadedLater: toIds(dynamicImports).filter((id) => isAbsolute(id)) },
    ]),
  );
}

/** Returns the modules that a module loads at once, or also those that it loads later. */
function listModules(start, includesLater) {
  const modules = new Set([start]);
  for (const id of modules) {
    const { imports = [], loadedLater = [] } = graph.get(id) ?? {};
    for (const imported of [...imports, ...(includesLater ? loadedLater : [])]) modules.add(imported);
  }
  return modules;
}

function findProgram(id) {
  const path = getSourcePath(id);
  const matches = PROGRAMS.map((pattern) => pattern.exec(path));
  const index = matches.findIndex((match) => match !== null);
  return index < 0 ? undefined : `${index} ${matches[index]?.[1]}`;
}

function getSourcePath(id) {
  const path = relative(join(root, "src"), id).split(sep).join("/");
  return path.startsWith("..") ? "packages" : path;
}

/**
 * Marks the initial values of constants as pure. The modules of `src/` have no effects when they are loaded, so that a
 * bundler of users can leave out each constant of a chunk that it does not need.
 */
function markConstantsAsPure(code, id) {
  if (getSourcePath(id) === "packages" || !id.endsWith(".ts")) return undefined;
  const hasCall = ({ type, start, end }) => !/Function/.test(type) && /\(/.test(code.slice(start, end));
  const values = parseAst(code, { lang: "ts" })
    .body.map((node) => node.declaration ?? node)
    .filter(({ type, kind }) => type === "VariableDeclaration" && kind === "const")
    .flatMap(({ declarations }) => declarations.flatMap(({ init }) => init ?? []))
    .filter((value) => hasCall(value) && !/\bawait\b/.test(code.slice(value.start, value.end)));
  let marked = code;
  for (const { type, callee, arguments: args = [], start, end } of values.toReversed()) {
    // The mark covers only the call after it. A function covers all calls in it.
    const isOneCall = /^(?:Call|New)Expression$/.test(type) && !hasCall(callee) && !args.some(hasCall);
    const value = code.slice(start, end);
    marked = `${marked.slice(0, start)}/* @__PURE__ */ ${isOneCall ? value : `(() => (${value}))()`}${marked.slice(end)}`;
  }
  return marked;
}
