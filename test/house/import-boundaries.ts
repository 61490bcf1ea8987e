import { globSync, readFileSync } from "node:fs";
import { dirname, join, posix, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { getSourceLanguage, isSyntaxNode, type SyntaxNode, walkNodes } from "../support/syntax-tree.ts";

/** How a part may import another: completely, or its types only. */
export type ImportAccess = "whole" | "types";

export interface ImportBoundary {
  /** The parts that this part may import. */
  readonly parts: Readonly<Record<string, ImportAccess>>;
  /** External packages. Each belongs to one room, and to `studio/demo`, which may use all that users use. */
  readonly packages?: readonly string[];
  /**
   * Whether the folder, or one of its subfolders, may use `node:` modules. Folders without them also run in browsers
   * and edge runtimes.
   */
  readonly allowsNode?: boolean | { readonly onlyIn: string };
  /** Nested `index.ts` files that other folders may import, although no package entry re-exports them. */
  readonly nestedDoors?: readonly string[];
}

/**
 * The import boundaries of each part of `src/`. A part is a room, such as `cards`, without its own parts, or a part of a
 * room, such as `cards/roles`. No part imports `cli`.
 */
export const IMPORT_BOUNDARIES: Readonly<Record<string, ImportBoundary>> = {
  "base/data-structures": { parts: {}, packages: ["@noble/hashes"] },
  protocol: { parts: {} },
  wire: {
    parts: { protocol: "whole" },
    packages: ["canonicalize", "eventsource-parser"],
    // Bundlers remove the unused members of a namespace only if its module is imported directly.
    nestedDoors: [
      "wire/canonical-card/index.ts",
      "wire/v0_3/index.ts",
      "wire/v1/index.ts",
      "wire/simple-dialect/index.ts",
    ],
  },
  // Signatures and keys.
  "wire/keys": { parts: { protocol: "whole" }, packages: ["jose"] },
  "wire/grpc": {
    parts: { protocol: "whole", wire: "whole" },
    packages: ["@grpc/grpc-js", "@bufbuild/protobuf"],
    allowsNode: true,
  },
  engine: { parts: { "base/data-structures": "whole", protocol: "whole" } },
  // The other nodes of a shared store, behind the interfaces of the engine.
  cluster: { parts: { "base/data-structures": "whole", protocol: "whole", engine: "whole" } },
  webhooks: { parts: { "base/data-structures": "whole", protocol: "whole", engine: "whole" } },
  "stores/retention": { parts: { protocol: "whole", engine: "whole", stores: "types" } },
  "base/usage-checks": { parts: {} },
  // The format and the model also run in browsers. Only the writers and readers of files use Node.js.
  "observe/trace": {
    parts: { protocol: "whole", "base/usage-checks": "whole", "observe/logging": "whole" },
    allowsNode: { onlyIn: "observe/trace/recording/" },
  },
  "observe/telemetry": {
    parts: { protocol: "whole", "observe/trace": "types" },
    nestedDoors: ["observe/telemetry/node/index.ts"],
    packages: [
      "@opentelemetry/api",
      "@opentelemetry/exporter-metrics-otlp-http",
      "@opentelemetry/exporter-trace-otlp-http",
      "@opentelemetry/resources",
      "@opentelemetry/sdk-metrics",
      "@opentelemetry/sdk-trace-node",
    ],
  },
  // Reads `process`, but imports no `node:` module.
  "observe/logging": { parts: { protocol: "whole", "base/usage-checks": "whole", engine: "types" } },
  stores: {
    parts: {
      "base/data-structures": "whole",
      protocol: "whole",
      "base/usage-checks": "whole",
      engine: "types",
      cluster: "types",
      webhooks: "types",
    },
    packages: ["pg"],
    allowsNode: true,
  },
  client: {
    parts: {
      protocol: "whole",
      "observe/telemetry": "whole",
      "base/usage-checks": "whole",
      wire: "whole",
      "wire/keys": "whole",
      "observe/trace": "whole",
      "wire/grpc": "whole",
    },
  },
  server: {
    parts: {
      "base/data-structures": "whole",
      protocol: "whole",
      "observe/telemetry": "whole",
      "base/usage-checks": "whole",
      "observe/logging": "whole",
      wire: "whole",
      "wire/keys": "whole",
      engine: "whole",
      cluster: "whole",
      webhooks: "whole",
      "stores/retention": "whole",
      "observe/trace": "whole",
      stores: "whole",
      "wire/grpc": "whole",
    },
    allowsNode: true,
  },
  "agents/adapters": {
    parts: {
      "base/data-structures": "whole",
      protocol: "whole",
      "base/usage-checks": "whole",
      wire: "whole",
      engine: "types",
      client: "whole",
    },
    packages: ["@a2a-js/sdk", "ai", "@langchain/langgraph", "@mastra/core", "@openai/agents"],
    allowsNode: true,
  },
  cards: {
    parts: { protocol: "whole", "base/usage-checks": "whole", "observe/trace": "whole" },
    packages: ["get-east-asian-width"],
  },
  "cards/roles": {
    parts: {
      "base/data-structures": "whole",
      protocol: "whole",
      "base/usage-checks": "whole",
      "observe/logging": "whole",
      cards: "whole",
      engine: "types",
      client: "whole",
      server: "whole",
    },
    packages: ["ai", "@ai-sdk/openai-compatible"],
  },
  // Runs roles over datasets and records the results.
  "cards/experiments": {
    parts: {
      protocol: "whole",
      "base/usage-checks": "whole",
      cards: "whole",
      "observe/trace": "whole",
      "observe/trace/recording": "whole",
      "cards/roles": "whole",
      engine: "types",
      client: "whole",
    },
    allowsNode: true,
  },
  "agents/adk": {
    parts: {
      "base/data-structures": "whole",
      protocol: "whole",
      "base/usage-checks": "whole",
      "observe/logging": "whole",
      engine: "types",
      client: "whole",
      server: "whole",
      stores: "whole",
    },
    packages: ["@google/adk", "@google/genai", "ai", "@ai-sdk/*", "zod"],
    allowsNode: true,
  },
  "studio/config": { parts: { engine: "types" } },
  // Conversations with agents for tests (`colloquy/testing`).
  "studio/testing": {
    parts: {
      protocol: "whole",
      "base/usage-checks": "whole",
      engine: "types",
      client: "whole",
      server: "whole",
      stores: "whole",
    },
    allowsNode: true,
  },
  // The reload loop of `colloquy dev`.
  "studio/dev": { parts: { engine: "types" }, allowsNode: true },
  "agents/mcp": {
    parts: {
      "base/data-structures": "whole",
      protocol: "whole",
      "observe/telemetry": "whole",
      "base/usage-checks": "whole",
      "observe/logging": "whole",
      engine: "types",
      client: "whole",
      server: "whole",
    },
    packages: ["@modelcontextprotocol/server", "@modelcontextprotocol/client"],
    allowsNode: true,
  },
  "agents/openai-facade": {
    parts: {
      "base/data-structures": "whole",
      protocol: "whole",
      "base/usage-checks": "whole",
      "observe/logging": "whole",
      wire: "whole",
      client: "whole",
      engine: "types",
      server: "types",
    },
  },
  "studio/tap": {
    parts: {
      "base/data-structures": "whole",
      protocol: "whole",
      "base/usage-checks": "whole",
      wire: "whole",
      "wire/keys": "whole",
      "observe/trace": "whole",
      client: "whole",
      "wire/grpc": "whole",
    },
    allowsNode: true,
  },
  // Judges A2A servers: conformance, resilience, and deployments.
  "studio/judge": {
    parts: {
      protocol: "whole",
      "base/usage-checks": "whole",
      "observe/trace": "whole",
      wire: "whole",
      "wire/grpc": "whole",
      client: "whole",
      "studio/tap": "whole",
    },
    allowsNode: true,
  },
  // The HTTP API of the console, as types and constants.
  "studio/console-api": { parts: { protocol: "whole", "observe/trace": "whole" } },
  // A browser app. Node.js code imports its bundles.
  "studio/pages": {
    parts: {
      protocol: "whole",
      "base/usage-checks": "whole",
      "observe/trace": "whole",
      cards: "whole",
      // The parser of server-sent events.
      wire: "whole",
      "studio/console-api": "whole",
    },
    packages: [
      "preact",
      "@preact/signals",
      "@tanstack/virtual-core",
      "@dagrejs/dagre",
      "diff",
      "dompurify",
      "highlight.js",
      "marked",
    ],
  },
  // Runs in browsers.
  ui: {
    parts: { protocol: "whole", "base/usage-checks": "whole", wire: "whole", client: "whole" },
    packages: ["react", "ai"],
  },
  "studio/console": {
    parts: {
      "base/data-structures": "whole",
      protocol: "whole",
      "base/usage-checks": "whole",
      "observe/logging": "whole",
      wire: "whole",
      "observe/trace": "whole",
      engine: "types",
      client: "whole",
      server: "whole",
      "studio/console-api": "whole",
      "studio/pages": "whole",
    },
    allowsNode: true,
  },
  cli: {
    parts: {
      "base/data-structures": "whole",
      protocol: "whole",
      "base/usage-checks": "whole",
      "observe/logging": "whole",
      "observe/trace": "whole",
      wire: "whole",
      engine: "whole",
      "stores/retention": "whole",
      stores: "whole",
      client: "whole",
      server: "whole",
      "agents/adapters": "whole",
      cards: "whole",
      "cards/roles": "whole",
      "cards/experiments": "whole",
      "agents/adk": "whole",
      "studio/config": "whole",
      "studio/console-api": "whole",
      "studio/dev": "whole",
      "studio/console": "whole",
      "studio/pages": "whole",
      "agents/mcp": "whole",
      "agents/openai-facade": "whole",
      "studio/tap": "whole",
      "studio/judge": "whole",
      "studio/demo": "whole",
      "studio/testing": "whole",
    },
    packages: ["commander", "jiti", "js-yaml"],
    allowsNode: true,
  },
  // One file for each package entry, with re-exports only.
  entries: {
    parts: {
      protocol: "whole",
      "base/usage-checks": "whole",
      "observe/logging": "whole",
      "observe/trace": "whole",
      engine: "types",
      "stores/retention": "types",
      stores: "whole",
      client: "whole",
      server: "whole",
      "agents/adapters": "whole",
      cards: "whole",
      "studio/console": "whole",
      "studio/pages": "whole",
      "cards/roles": "whole",
      "cards/experiments": "whole",
      "agents/adk": "whole",
      "studio/config": "whole",
      "studio/testing": "whole",
      "agents/mcp": "whole",
      "agents/openai-facade": "whole",
      ui: "whole",
    },
  },
  // Uses the library as its users do, together with ADK.
  "studio/demo": {
    parts: {
      engine: "types",
      "agents/adapters": "whole",
      "agents/adk": "whole",
      cards: "whole",
      "cards/roles": "whole",
    },
    packages: ["@google/adk", "@google/genai"],
    allowsNode: true,
  },
};

/** Packages that several rooms use for different purposes: the AI SDK provides agents and the types of `useChat`. */
export const SHARED_PACKAGES: ReadonlySet<string> = new Set(["ai"]);

/** Shipped source files by path below `src/`, for example `server/index.ts`. */
export type SourceFiles = ReadonlyMap<string, string>;

export interface Import {
  /** Path of the importing file, below `src/`. */
  readonly from: string;
  /** Path of the imported file below `src/`, the name of a package, or a `node:` module. */
  readonly to: string;
  readonly isInternal: boolean;
  readonly isTypeOnly: boolean;
}

/** Reads all files of `src/` except tests, which may import anything. */
export function readSources(): SourceFiles {
  const src = fileURLToPath(new URL("../../src/", import.meta.url));
  const files = globSync("**/*.{ts,tsx}", { cwd: src }).filter(
    (file) => !/\.(test|contract|fixture)\.ts$|page-bundle\.ts$/.test(file),
  );
  return new Map(files.map((file) => [file.split(sep).join("/"), readFileSync(join(src, file), "utf8")]));
}

/** Returns each nested `index.ts` that a package entry re-exports. */
export function findNestedEntryPoints(imports: readonly Import[]): string[] {
  const opened = imports.filter(({ from, isInternal }) => isInternal && from.startsWith("entries/"));
  return [...new Set(opened.map(({ to }) => to).filter((to) => /^[\w-]+\/.+\/index\.ts$/.test(to)))];
}

/** Parses the sources, which takes a second for all of `src/`. */
export function listImports(sources: SourceFiles): Import[] {
  return [...sources].flatMap(([from, source]) => {
    const found: Import[] = [];
    for (const node of walkNodes(source, getSourceLanguage(from))) {
      const specifier = getSpecifier(node);
      if (specifier === undefined) continue;
      const inside = specifier.startsWith(".");
      const to = inside ? posix.join(dirname(from), specifier) : getPackageName(specifier);
      found.push({ from, to, isInternal: inside, isTypeOnly: isTypeOnlyImport(node) });
    }
    return found;
  });
}

/** Returns the specifier of a static or dynamic import or re-export, or `undefined` for any other node. */
function getSpecifier(node: SyntaxNode): string | undefined {
  if (!/^(Import(Declaration|Expression)|Export(Named|All)Declaration|TSImportType)$/.test(node.type))
    return undefined;
  const source = node["source"];
  // A specifier computed at run time does not belong to our own imports.
  return isSyntaxNode(source) && typeof source["value"] === "string" ? source["value"] : undefined;
}

/** Returns whether an import disappears from the emitted code. `import { type A }` still loads the module. */
function isTypeOnlyImport(node: SyntaxNode): boolean {
  return node.type === "TSImportType" || node["importKind"] === "type" || node["exportKind"] === "type";
}

/**
 * Returns the package of a specifier: `@google/adk/tools` → `@google/adk`. `node:` modules keep their full
 * name.
 */
function getPackageName(specifier: string): string {
  if (specifier.startsWith("node:")) return specifier;
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

/** Returns a message for every import that violates a boundary. */
export function findViolations(imports: readonly Import[], innerDoors: readonly string[] = []): string[] {
  return [...imports.flatMap((found) => findViolation(found, innerDoors) ?? []), ...findCycles(imports)];
}

function findViolation(
  { from, to, isInternal, isTypeOnly }: Import,
  innerDoors: readonly string[],
): string | undefined {
  const part = getPart(from);
  const wall = IMPORT_BOUNDARIES[part ?? ""];
  if (!wall) return `${from} is in no part of the table of walls`;
  if (to.startsWith("node:")) return mayUseNode(wall, from) ? undefined : `${from} uses ${to}`;
  if (!isInternal) return mayUsePackage(wall, to) ? undefined : `${from} uses the package ${to}`;

  const other = getPart(to);
  if (other === part) return undefined;
  if (other === undefined) return `${from} imports ${to}, which is in no part`;
  const access = wall.parts[other];
  if (access === undefined) return `${from} opens ${other}`;
  if (access === "types" && !isTypeOnly) return `${from} opens more of ${other} than its types`;
  const isDoor =
    to === `${other}/index.ts` ||
    (part === "entries" && to === `${other}/public.ts`) ||
    innerDoors.includes(to) ||
    IMPORT_BOUNDARIES[other]?.nestedDoors?.includes(to) === true;
  if (!isDoor) return `${from} enters ${to}, which is no door`;
  return undefined;
}

/** Returns the smallest part that contains a file: `cards/roles` for `cards/roles/serve-roles.ts`. */
export function getPart(file: string): string | undefined {
  const folders = file.split("/").slice(0, -1);
  const paths = folders.map((_, index) => folders.slice(0, index + 1).join("/"));
  return paths.findLast((path) => Object.hasOwn(IMPORT_BOUNDARIES, path));
}

/** Returns the room of a part or of a file. */
export function getRoom(path: string): string {
  return path.split("/", 1)[0] ?? path;
}

function mayUseNode({ allowsNode = false }: ImportBoundary, file: string): boolean {
  return typeof allowsNode === "boolean" ? allowsNode : file.startsWith(allowsNode.onlyIn);
}

function mayUsePackage({ packages = [] }: ImportBoundary, name: string): boolean {
  return packages.some((known) =>
    known.endsWith("/*") ? name.startsWith(known.slice(0, -1)) : name === known,
  );
}

/** Finds cycles among all imports, also among imports of types, so that every file can be read after its imports. */
function findCycles(imports: readonly Import[]): string[] {
  const edges = new Map<string, string[]>();
  for (const { from, to, isInternal } of imports)
    if (isInternal) edges.set(from, [...(edges.get(from) ?? []), to]);
  const cycles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) cycles.push(`cycle: ${[...path.slice(path.indexOf(file)), file].join(" → ")}`);
    if (done.has(file)) return;
    done.add(file);
    for (const next of edges.get(file) ?? []) visit(next, [...path, file]);
  };
  for (const file of edges.keys()) visit(file, []);
  return cycles;
}
